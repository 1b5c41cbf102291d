import { findObstacles, listAdapters, unavailable } from "../base/adapters.js";
import { checkOneOf, fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import { toPagepressError } from "../base/errors.js";
import type { AdapterInfo, Device, DeviceBuffer } from "../base/types.js";
import { compileFor, type CudaKernel } from "../cuda/kernel.js";
import type { CudaOptions } from "../cuda/types.js";
import type { TensorModule } from "../modules/load.js";
import type { Device as RawDevice, Op } from "../wasm/tensor.js";
import { checkedBits, checkedFloats, DTYPES, packedWords, words } from "./arguments.js";
import { ArrayOperations } from "./arrays.js";
import { batchOf, type GpuCommandBatch } from "./batch.js";
import { loadTensors, now, settled } from "./call.js";
import { Held } from "./dispose.js";
import { addArguments, checkedGrid, checkedOptions, kernelOf, rawKernel, type GpuKernel, type KernelArgument } from "./kernel.js";
import type { LayerConfig, LayerWeights } from "./layer-types.js";
import { layerOn, type WgslForwardPass } from "./layer.js";
import { QuantizedWeights, tensorOf, type GpuTensor } from "./tensor.js";
import type {
  DType, Floats, GpuCapabilities, GpuDeviceInfo, GpuDeviceOptions, Grid, HalfType, Halves, KernelOptions, Quantization, Shape, Size2d,
} from "./types.js";

/** @internal Returns the module's device in a `GpuDevice`; throws `DISPOSED` or `INVALID_ARGUMENT`. */
export let rawDevice: (device: GpuDevice) => RawDevice;

/** An open GPU, with operations on arrays, tensors in GPU memory, and custom kernels. */
export class GpuDevice extends ArrayOperations {
  readonly #held: Held<RawDevice>;
  readonly #module: TensorModule["glue"];
  /** Description of the device. */
  readonly info: GpuDeviceInfo;
  /** Limits and features for kernels. */
  readonly capabilities: GpuCapabilities;

  static {
    rawDevice = (device) => {
      if (typeof device === "object" && device !== null && #held in device) return device.#held.get();
      return fail("device", typeof device, "give a GpuDevice");
    };
  }

  private constructor(module: TensorModule["glue"], raw: RawDevice) {
    super();
    this.#module = module;
    this.#held = new Held(raw, "device");
    this.info = raw.info;
    this.capabilities = raw.capabilities;
  }

  /** Opens a GPU. Rejects with `BACKEND_UNAVAILABLE` and the reason if no adapter can be used; `GpuBackend` runs on the CPU
   * then. */
  static async open(options: GpuDeviceOptions = {}): Promise<GpuDevice> {
    const { device, powerPreference = "high-performance", allowSoftware = false, modules } = options;
    checkOneOf("powerPreference", powerPreference, ["high-performance", "low-power"]);
    try {
      if (device) {
        const module = await loadTensors(modules?.tensor);
        return new GpuDevice(module, await settled(() => module.Device.borrow(device)));
      }
      const obstacles = await findObstacles(powerPreference, allowSoftware);
      if (obstacles.length > 0) throw unavailable(obstacles);
      const module = await loadTensors(modules?.tensor);
      return new GpuDevice(module, await settled(() => module.Device.open(powerPreference, allowSoftware)));
    } catch (error) {
      throw toPagepressError(error);
    }
  }

  /** Returns true if there is a hardware GPU. Does not load a WebAssembly module. */
  static async isAvailable(): Promise<boolean> {
    return (await findObstacles("high-performance", false)).length === 0;
  }

  /** Returns the high-performance and the low-power adapter, once if they are the same. Does not load a WebAssembly
   * module. */
  static listAdapters(): Promise<AdapterInfo[]> {
    return listAdapters();
  }

  /** The browser's `GPUDevice`; null after `dispose`. Its promise `lost` reports a device loss. */
  get raw(): Device | null { return this.#held.isDisposed ? null : (this.#held.get().raw as Device); }
  get isDisposed(): boolean { return this.#held.isDisposed; }

  /** Uploads an array as a tensor, the last axis innermost. Default shape: one axis. The array is read before this
   * returns. */
  tensor(data: Float32Array, shape?: Shape, options?: { dtype?: "float32" }): Promise<GpuTensor>;
  /** Uploads elements of 16 bits, or their bits, as a tensor. */
  tensor(data: Halves, shape: Shape | undefined, options: { dtype: HalfType }): Promise<GpuTensor>;
  async tensor(data: unknown, shape?: Shape, { dtype = "float32" }: { dtype?: DType } = {}): Promise<GpuTensor> {
    checkOneOf("dtype", dtype, DTYPES);
    if (dtype === "float32") {
      const values = checkedFloats("data", data);
      const dims = words("shape", shape ?? [values.length]);
      return tensorOf(await settled(() => this.#held.get().upload(values, dims)));
    }
    const bits = checkedBits("data", data, dtype);
    const dims = words("shape", shape ?? [bits.length]);
    return tensorOf(await settled(() => this.#held.get().uploadBits(bits, dtype, dims)));
  }

  /** Uploads packed weights of `size` `[n, k]`, block after block as in a GGUF file. `k` must be a multiple of 256, or of 4
   * for `f16`. */
  async quantizedWeights(bytes: Uint8Array, kind: Quantization, size: Size2d): Promise<QuantizedWeights> {
    const [packed, length] = packedWords("bytes", bytes);
    return new QuantizedWeights(await this.tensor(packed), ["matmulQuantized", kind, words("size", size), length]);
  }

  /** Uploads the weights of a transformer layer, and allocates the key-value cache of a causal one. Arrays must not change
   * until this has settled. Rejects with `LENGTH_MISMATCH` for weights whose sizes do not match `config`, and with
   * `INVALID_ARGUMENT` for an inconsistent configuration, an unknown option, or weights that are missing. */
  async createLayer(config: LayerConfig, weights: LayerWeights): Promise<WgslForwardPass> {
    return layerOn({ device: this, raw: () => this.#held.get(), module: this.#module }, config, weights);
  }

  /** Creates a tensor whose elements are all `value`. */
  async full(shape: Shape, value: number): Promise<GpuTensor> {
    const one = await this.tensor(Float32Array.of(value), []);
    try {
      const view = one.broadcastTo(shape);
      try {
        return await view.contiguous();
      } finally {
        view.dispose();
      }
    } finally {
      one.dispose();
    }
  }

  /** Creates a tensor of zeros. */
  zeros(shape: Shape): Promise<GpuTensor> { return this.full(shape, 0); }
  /** Creates a tensor with undefined elements, for a kernel to write to. */
  empty(shape: Shape): GpuTensor { return tensorOf(now(() => this.#held.get().empty(words("shape", shape)))); }

  /** Creates a tensor over the start of a `GPUBuffer` of this device with the usage `STORAGE`, without a copy. The page
   * keeps ownership of the buffer. Its size in bytes must be at least that of the elements, rounded up to 16. */
  tensorFromBuffer(buffer: DeviceBuffer, shape: Shape): GpuTensor {
    return tensorOf(now(() => this.#held.get().tensorFromBuffer(buffer, words("shape", shape))));
  }

  /** Creates a batch of operations that run in one submission. */
  batch(): GpuCommandBatch { return batchOf(now(() => this.#held.get().batch())); }

  /** Compiles a kernel, or reuses a compiled one. Rejects with `KERNEL_COMPILE` and the line and column of the error. */
  async compileKernel(wgsl: string, options: KernelOptions): Promise<GpuKernel> {
    const { entry, bindings, names, values } = checkedOptions(options);
    const compile = () => this.#held.get().compileKernel(String(wgsl), entry, bindings, names, values);
    return kernelOf(await settled(compile), entry);
  }

  /** Compiles a kernel in CUDA C. Rejects with `KERNEL_COMPILE` and the line and column of the error. The first call loads the module
   * `pagepress/cuda.wasm`. */
  compileCuda(source: string, options: CudaOptions = {}): Promise<CudaKernel> { return compileFor(this, source, options); }

  /** Launches a grid of workgroups with `args[n]` as binding n of group 0. Returns when the launch is submitted: later work
   * on this device sees the writes of the kernel. A strided view cannot be an argument. */
  launch(kernel: GpuKernel, grid: Grid, args: readonly KernelArgument[] = []): void {
    const raw = this.#held.get();
    const workgroups = checkedGrid(grid);
    now(() => {
      const list = new this.#module.Arguments();
      addArguments(list, args);
      raw.launch(rawKernel(kernel), ...workgroups, list);
    });
  }

  /** Waits until all submitted work has run. Rejects with the errors of that work. */
  async synchronize(): Promise<void> { await settled(() => this.#held.get().synchronize()); }
  /** Disposes of the device and all of its tensors. */
  dispose(): void { this.#held.dispose(); }
  [disposal](): void { this.dispose(); }

  /** @internal */
  override compute(op: Op, arrays: readonly Float32Array[], shapes: readonly Uint32Array[]): Promise<Floats> {
    return settled(() => this.#held.get().run(op, arrays, shapes));
  }
}
