import { bytesOf, checkOptions, fail } from "../base/arguments.js";
import { toPagepressError } from "../base/errors.js";
import type { GpuDevice } from "../tensor/device.js";
import type { GpuKernel } from "../tensor/kernel.js";
import { GpuTensor } from "../tensor/tensor.js";
import type { Grid, KernelAccess } from "../tensor/types.js";
import { optionNames, translated } from "./translate.js";
import type { CudaOptions, CudaParameter, TranslatedCuda } from "./types.js";

/** An argument of a launch: a tensor for a pointer, a number or a boolean for a scalar, bytes in the layout of CUDA for a structure
 * or a vector. */
export type CudaArgument = GpuTensor | number | boolean | ArrayBuffer | ArrayBufferView;

/** A kernel in CUDA C, compiled for a device. Created by `GpuDevice.compileCuda`. */
export class CudaKernel {
  readonly #device: GpuDevice;
  readonly #translated: TranslatedCuda;
  /** The kernel in WGSL, compiled. Its arguments are those that `arguments` returns. */
  readonly kernel: GpuKernel;

  /** @internal */
  constructor(device: GpuDevice, kernel: GpuKernel, translation: TranslatedCuda) {
    this.#device = device;
    this.kernel = kernel;
    this.#translated = translation;
  }

  get entry(): string { return this.#translated.entry; }
  /** Threads per block along x, y and z. */
  get block(): readonly [number, number, number] { return this.#translated.block; }
  /** The parameters that a launch takes arguments for, in their order. */
  get parameters(): readonly CudaParameter[] { return this.#translated.parameters; }
  /** Remarks on the source as `line:column: text`. */
  get notes(): readonly string[] { return this.#translated.notes; }
  /** The kernel in WGSL. */
  get wgsl(): string { return this.#translated.text; }

  /** Launches a grid of blocks with one argument for each parameter. Returns when the launch is submitted: later work on this device
   * sees the writes of the kernel. */
  launch(grid: Grid, args: readonly CudaArgument[] = []): void {
    this.#device.launch(this.kernel, grid, this.arguments(args));
  }

  /** Returns the arguments for `kernel`: the tensors by binding, and the values in one block. */
  arguments(args: readonly CudaArgument[]): (GpuTensor | Uint32Array)[] {
    const { parameters, uniform, entry } = this.#translated;
    if (args.length !== parameters.length) {
      const names = parameters.map(({ name }) => name).join(", ");
      fail("args", `${args.length} arguments for ${entry}(${names})`, "give one for each parameter, in their order");
    }
    const values = new DataView(new ArrayBuffer(uniform?.byteLength ?? 0));
    const tensors: GpuTensor[] = [];
    parameters.forEach((parameter, i) => {
      if ("binding" in parameter) tensors[parameter.binding] = tensorOf(parameter, args[i]);
      else put(values, parameter, args[i]);
    });
    return uniform ? [...tensors, new Uint32Array(values.buffer)] : tensors;
  }
}

/** @internal Compiles a kernel in CUDA C for a device. */
export async function compileFor(device: GpuDevice, source: string, options: CudaOptions): Promise<CudaKernel> {
  try {
    checkOptions(options, optionNames);
    const translation = await translated(source, { ...options, float16: device.capabilities.float16 });
    const { parameters, uniform, entry } = translation;
    const bindings: KernelAccess[] = [];
    for (const parameter of parameters) if ("binding" in parameter) bindings[parameter.binding] = parameter.kind;
    if (uniform) bindings.push("uniform");
    return new CudaKernel(device, await device.compileKernel(translation.text, { entry, bindings }), translation);
  } catch (error) {
    throw toPagepressError(error);
  }
}

function tensorOf({ name }: CudaParameter, value: unknown): GpuTensor {
  return value instanceof GpuTensor ? value : fail("args", typeof value, `give a GpuTensor for ${name}`);
}

/** Writes a value into the uniform; throws `INVALID_ARGUMENT` if its kind or its size differs from the parameter's. */
function put(values: DataView, parameter: Exclude<CudaParameter, { binding: number }>, value: unknown): void {
  const { name, kind, offset, byteLength } = parameter;
  if (kind === "struct") {
    const bytes = bytesOf("args", value);
    if (bytes.length !== byteLength) fail("args", `${bytes.length} bytes`, `give ${byteLength} bytes for ${name}`);
    return new Uint8Array(values.buffer, offset, byteLength).set(bytes);
  }
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof number !== "number") return fail("args", typeof value, `give a number for ${name}`);
  if (kind === "f32") return values.setFloat32(offset, number, true);
  const [least, most] = kind === "i32" ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
  if (!Number.isInteger(number) || number < least || number > most) fail("args", String(value), `give a whole number from ${least} to ${most} for ${name}`);
  values.setUint32(offset, number >>> 0, true);
}
