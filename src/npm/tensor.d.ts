import type { RawModule } from "./tensor/glue.js";

declare const init: (options: { module_or_path: WebAssembly.Module }) => Promise<unknown>;
export default init;
export declare const Arguments: RawModule["Arguments"];
export declare const Backend: RawModule["Backend"];
export declare const Batch: RawModule["Batch"];
export declare const Device: RawModule["Device"];
