import type { Call } from "../module-call.js";
import { Held } from "../module-memory.js";
import type { Device } from "../types.js";
import type { OpenDevice } from "../webgpu-device.js";
import { RawArrays, type TensorExports, type TensorModule } from "./raw.js";
import { RawBatch } from "./raw-batch.js";
import { RawTensor } from "./raw-tensor.js";
import type { BackendUsed, GpuCapabilities, GpuDeviceInfo } from "./types.js";

/** A compiled kernel of the module. */
export class RawKernel extends Held<TensorModule> {
  constructor(module: TensorModule, at: number) {
    super(module, at, module.exports.kernel_free);
  }

  get at(): number {
    return this.use((at) => at);
  }
}

/** A kernel to compile: its accesses as numbers, names of overrides with spaces between, and their values. */
export interface RawSource {
  readonly entry: string;
  readonly bindings: Uint32Array;
  readonly names: string;
  readonly values: Float64Array;
}

/** A device of the module. */
export class RawDevice extends RawArrays {
  constructor(module: TensorModule, at: number) {
    super(module, at, module.exports.device_free);
  }

  protected override where(at: number): readonly [device: number, backend: number] {
    return [at, 0];
  }

  info(): GpuDeviceInfo {
    const { name, vendor, software } = this.#open();
    return { name, vendor, engine: "webgpu", software };
  }

  capabilities(): GpuCapabilities {
    const open = this.#open();
    const [maxBindingBytes, maxBufferBytes, maxWorkgroupBytes, maxWorkgroupInvocations, maxGrid, maxStorageBuffers] =
      open.limits() as [number, number, number, number, number, number];
    const limits = { maxBindingBytes, maxBufferBytes, maxWorkgroupBytes, maxWorkgroupInvocations, maxGrid, maxStorageBuffers };
    return { ...limits, timestamps: open.hasTimestamps };
  }

  raw(): Device {
    return this.#open().device as unknown as Device;
  }

  /** Gives the browser's device up, unless that was done when its module stopped. */
  close(): void {
    if (!this.isLost) this.use((at) => this.module.exports.device_close(at));
  }

  synchronize(): Call<null> {
    return this.call((exports, at) => exports.device_synchronize(at), () => null);
  }

  upload(values: Float32Array, dims: Uint32Array): Call<RawTensor> {
    const { module } = this;
    const begin = (exports: TensorExports, at: number): number =>
      exports.device_upload(at, module.bytesOf(values), module.bytesOf(dims));
    return this.call(begin, (number) => new RawTensor(module, number));
  }

  empty(dims: Uint32Array): RawTensor {
    const { module } = this;
    return new RawTensor(module, this.use((at) => module.made(module.exports.device_empty(at, module.bytesOf(dims)))));
  }

  batch(): RawBatch {
    return new RawBatch(this.module, this.use((at) => this.module.exports.batch_new(at)));
  }

  compileKernel(wgsl: string, { entry, bindings, names, values }: RawSource): Call<RawKernel> {
    const { module } = this;
    const begin = (exports: TensorExports, at: number): number => {
      const texts = [module.textOf(wgsl), module.textOf(entry)] as const;
      return exports.device_compile(at, ...texts, module.bytesOf(bindings), module.textOf(names), module.bytesOf(values));
    };
    return this.call(begin, (number) => new RawKernel(module, number));
  }

  /** Arguments are tensors, for storage, and words, for parameters. */
  launch(kernel: RawKernel, grid: readonly [x: number, y: number, z: number], args: readonly (RawTensor | Uint32Array)[]): void {
    const { module } = this;
    this.use((at) => {
      const words = args.flatMap((arg) => (arg instanceof RawTensor ? [arg.at] : [0, arg.length, ...arg]));
      module.taken(module.exports.device_launch(at, kernel.at, ...grid, module.bytesOf(Uint32Array.from(words))));
    });
  }

  #open(): OpenDevice {
    return this.module.values.get(this.use((at) => this.module.exports.device_number(at)));
  }
}

/** A backend of the module. */
export class RawBackend extends RawArrays {
  constructor(module: TensorModule, at: number) {
    super(module, at, module.exports.backend_free);
  }

  protected override where(at: number): readonly [device: number, backend: number] {
    return [0, at];
  }

  lastBackend(): BackendUsed | null {
    const told = this.module.taken(this.use((at) => this.module.exports.backend_last(at)));
    if (!told) return null;
    const text = new TextDecoder().decode(told);
    const rest = text.slice(1);
    if (text.startsWith("G")) return { engine: "webgpu", device: rest, reason: null };
    return { engine: "cpu", device: null, reason: rest };
  }
}
