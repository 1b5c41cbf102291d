import { GpuCodec, HeldCodec } from "./gpu-codec.js";
import type { GpuExports, GpuModule } from "./gpu-module.js";
import type { CpuModule } from "./cpu-module.js";
import { Job } from "./job.js";
import { drive, instantiate, ModuleCall } from "./module-call.js";

/** What opens GPUs. */
export class Gpu {
  readonly #module: GpuModule;

  constructor(module: GpuModule) {
    this.#module = module;
  }

  /** Opens one. `cpu` puts its pages together to files. */
  async open(powerPreference: string, allowSoftware: boolean, cpu: CpuModule): Promise<GpuCodec> {
    const isLowPower = powerPreference === "low-power" ? 1 : 0;
    const open = async (): Promise<HeldCodec> => {
      const at = this.#module.exports.open_codec(isLowPower, allowSoftware ? 1 : 0);
      return (await drive(new ModuleCall(this.#module, at, (number) => new HeldCodec(this.#module, number)), new Job())).value;
    };
    return new GpuCodec(this.#module, await open(), open, cpu);
  }
}

/** An instance of the module. */
export async function start(module: WebAssembly.Module): Promise<Gpu> {
  return new Gpu(await instantiate<GpuExports>(module));
}
