import { drive } from "./drive.js";
import { GpuCodec, HeldCodec } from "./gpu-codec.js";
import type { GpuExports, GpuModule } from "./gpu-module.js";
import { instantiate, ModuleCall } from "./module-call.js";
import type { Plain } from "./plain.js";

/** What opens GPUs. */
export class Gpu {
  readonly #module: GpuModule;

  constructor(module: GpuModule) {
    this.#module = module;
  }

  /** Opens one. `plain` puts its pages together to files. */
  async open(powerPreference: string, allowSoftware: boolean, plain: Plain): Promise<GpuCodec> {
    const isLowPower = powerPreference === "low-power" ? 1 : 0;
    const open = async (): Promise<HeldCodec> => {
      const at = this.#module.exports.open_codec(isLowPower, allowSoftware ? 1 : 0);
      return (await drive(new ModuleCall(this.#module, at, (number) => new HeldCodec(this.#module, number)))).value;
    };
    return new GpuCodec(this.#module, await open(), open, plain);
  }
}

/** An instance of the module. */
export async function start(module: WebAssembly.Module): Promise<Gpu> {
  return new Gpu(await instantiate<GpuExports>(module));
}
