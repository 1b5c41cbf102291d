import type { GpuGlue } from "./glue.js";
import type { Exports } from "./plain.js";

declare const init: (options: { module_or_path: WebAssembly.Module }) => Promise<Exports>;
export default init;
export declare const Codec: GpuGlue["Codec"];
