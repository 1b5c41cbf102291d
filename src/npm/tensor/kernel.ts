import { checkOneOf, fail } from "../base/arguments.js";
import type { Arguments, Kernel } from "../wasm/tensor.js";
import { checkWord, params } from "./arguments.js";
import { GpuTensor, rawOf } from "./tensor.js";
import type { Grid, KernelAccess, KernelOptions } from "./types.js";

/** @internal Returns the module's kernel in a `GpuKernel`; throws `INVALID_ARGUMENT`. */
export let rawKernel: (kernel: GpuKernel) => Kernel;

/** @internal Wraps a kernel of the module in a `GpuKernel`. */
export let kernelOf: (raw: Kernel, entry: string) => GpuKernel;

/** A custom kernel, compiled for a device. Created by `GpuDevice.compileKernel`. */
export class GpuKernel {
  readonly #raw: Kernel;
  /** Name of the `@compute` function. */
  readonly entry: string;

  static {
    kernelOf = (raw, entry) => new GpuKernel(raw, entry);
    rawKernel = (kernel) => {
      if (typeof kernel === "object" && kernel !== null && #raw in kernel) return kernel.#raw;
      return fail("kernel", typeof kernel, "give what compileKernel gave");
    };
  }

  private constructor(raw: Kernel, entry: string) {
    this.#raw = raw;
    this.entry = entry;
  }
}

/** Argument of a binding: a tensor for storage, or whole words of 4 bytes for parameters, at least one. */
export type KernelArgument = GpuTensor | ArrayBuffer | ArrayBufferView;

const ACCESSES: readonly KernelAccess[] = ["read", "read-write", "uniform"];

/** @internal Checks kernel options, and returns them in the form that the module accepts. */
export function checkedOptions(options: KernelOptions) {
  const { entry = "main", bindings, overrides = {} } = options ?? {};
  if (typeof entry !== "string") fail("entry", typeof entry, "give the name of a @compute function");
  if (!Array.isArray(bindings)) fail("bindings", typeof bindings, "list the access of each binding of group 0");
  const names = Object.keys(overrides);
  for (const name of names) {
    if (/\s/.test(name) || typeof overrides[name] !== "number") fail("overrides", name, "give numbers by names");
  }
  for (const access of bindings) checkOneOf("bindings", access, ACCESSES);
  return { entry, bindings: bindings.join(" "), names: names.join(" "), values: Float64Array.from(Object.values(overrides)) };
}

/** @internal Returns the number of workgroups in each dimension. */
export function checkedGrid(grid: Grid): [x: number, y: number, z: number] {
  const [x, y = 1, z = 1] = typeof grid === "number" ? [grid] : grid;
  for (const n of [x, y, z]) checkWord("grid", n);
  return [x, y, z];
}

/** @internal Adds the arguments of a launch to the module's list. */
export function addArguments(list: Arguments, args: readonly KernelArgument[]): void {
  for (const arg of args) {
    if (arg instanceof GpuTensor) list.tensor(rawOf("args", arg));
    else list.params(params(arg));
  }
}
