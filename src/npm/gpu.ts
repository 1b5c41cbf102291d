import { drive } from "./drive.js";
import { GpuCodec } from "./gpu-codec.js";
import { GpuCall, type GpuExports, GpuModule } from "./gpu-module.js";
import { type Host, valueFunctions, Values } from "./js-values.js";
import type { Plain } from "./plain.js";
import { gpuFunctions } from "./webgpu.js";

/** What opens GPUs. */
export class Gpu {
  readonly #module: GpuModule;

  constructor(module: GpuModule) {
    this.#module = module;
  }

  /** Opens one. `plain` puts its pages together to files. */
  async open(powerPreference: string, allowSoftware: boolean, plain: Plain): Promise<GpuCodec> {
    const isLowPower = powerPreference === "low-power" ? 1 : 0;
    const at = this.#module.exports.open_codec(isLowPower, allowSoftware ? 1 : 0);
    const { value } = await drive(new GpuCall(this.#module, at, (number) => number));
    return new GpuCodec(this.#module, value, plain);
  }
}

/** An instance of the module. */
export async function start(module: WebAssembly.Module): Promise<Gpu> {
  const values = new Values();
  const wakers = new Map<number, () => void>();
  let exports: GpuExports;
  const host: Host = {
    values,
    memory: () => exports.memory.buffer as ArrayBuffer,
    answer: (token, number) => exports.answer_later(token, number),
    fail: (token, error) => {
      const message = error instanceof Error ? error.message : String((error as { message?: unknown })?.message ?? error);
      exports.fail_later(token, values.add(new TextEncoder().encode(message)));
    },
    wake: (call) => wakers.get(call)?.(),
  };
  const instance = await WebAssembly.instantiate(module, { js: valueFunctions(host), gpu: gpuFunctions(host) });
  exports = instance.exports as unknown as GpuExports;
  return new Gpu(new GpuModule(exports, values, wakers));
}
