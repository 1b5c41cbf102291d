import { GpuCodec } from "./gpu-codec.js";
import { glue, guarded } from "./gpu-module.js";
import type { Plain } from "./plain.js";

/** What opens GPUs. */
export class Gpu {
  /** Opens one. `plain` puts its pages together to files. */
  async open(powerPreference: string, allowSoftware: boolean, plain: Plain): Promise<GpuCodec> {
    const open = () => guarded(() => glue.GpuCodec.open(powerPreference === "low-power", allowSoftware));
    return new GpuCodec(await open(), open, plain);
  }
}

/** The module, ready for use. */
export async function start(module: WebAssembly.Module): Promise<Gpu> {
  await glue.default({ module_or_path: module });
  return new Gpu();
}
