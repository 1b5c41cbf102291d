import type { Call } from "../module-call.js";
import { fail } from "../arguments.js";
import { instantiate, ModuleCall } from "../module-call.js";
import type { Device } from "../types.js";
import { borrowDevice } from "../webgpu-device.js";
import type { GpuDevice } from "../webgpu-types.js";
import type { TensorExports, TensorModule } from "./raw.js";
import { RawBackend, RawDevice } from "./raw-device.js";

/** The module of tensors, which makes what the entry `tensor` shows. */
export class TensorEngine {
  readonly #module: TensorModule;

  constructor(module: TensorModule) {
    this.#module = module;
  }

  open(powerPreference: string, allowSoftware: boolean): Call<RawDevice> {
    const at = this.#module.exports.device_open(powerPreference === "low-power" ? 1 : 0, allowSoftware ? 1 : 0);
    return new ModuleCall(this.#module, at, (number) => new RawDevice(this.#module, number));
  }

  /** The page's own device. */
  borrow(device: Device): RawDevice {
    const raw = device as unknown as GpuDevice;
    if (typeof device !== "object" || device === null || !raw.features || !raw.limits) {
      fail("device", typeof device, "give a GPUDevice");
    }
    const { exports, values } = this.#module;
    return new RawDevice(this.#module, this.#module.made(exports.device_borrow(values.add(borrowDevice(raw)))));
  }

  /** A backend on `device`; without one, it opens a GPU when that first pays. */
  backend(device?: RawDevice): RawBackend {
    return new RawBackend(this.#module, this.#module.exports.backend_new(device?.at ?? 0));
  }
}

/** An instance of the module. */
export async function start(module: WebAssembly.Module): Promise<TensorEngine> {
  return new TensorEngine(await instantiate<TensorExports>(module));
}
