import { checkOneOf, fail } from "../arguments.js";
import { checkWord, params } from "./arguments.js";
import type { RawKernel, RawSource } from "./raw-device.js";
import type { RawTensor } from "./raw-tensor.js";
import { GpuTensor, rawOf } from "./tensor.js";
import type { Grid, KernelAccess, KernelOptions } from "./types.js";

/** The module's kernel under one of the package. */
export let rawKernel: (kernel: GpuKernel) => RawKernel;

/** A kernel of the package over one of the module. */
export let kernelOf: (raw: RawKernel, entry: string) => GpuKernel;

/** A kernel of your own, compiled for a device. */
export class GpuKernel {
  readonly #raw: RawKernel;
  /** The `@compute` function. */
  readonly entry: string;

  static {
    kernelOf = (raw, entry) => new GpuKernel(raw, entry);
    rawKernel = (kernel) => {
      if (typeof kernel === "object" && kernel !== null && #raw in kernel) return kernel.#raw;
      return fail("kernel", typeof kernel, "give what compileKernel gave");
    };
  }

  private constructor(raw: RawKernel, entry: string) {
    this.#raw = raw;
    this.entry = entry;
  }
}

/** What a binding is given: a tensor for storage, words for parameters, at least 4 bytes. */
export type KernelArgument = GpuTensor | ArrayBuffer | ArrayBufferView;

/** In the module's order. */
const ACCESSES: readonly KernelAccess[] = ["read", "read-write", "uniform"];

/** Kernel options as the module takes them. */
export function encodeKernel(options: KernelOptions): RawSource {
  const { entry = "main", bindings, overrides = {} } = options ?? {};
  if (typeof entry !== "string") fail("entry", typeof entry, "give the name of a @compute function");
  if (!Array.isArray(bindings)) fail("bindings", typeof bindings, "list the access of each binding of group 0");
  const names = Object.keys(overrides);
  for (const name of names) {
    if (/\s/.test(name) || typeof overrides[name] !== "number") fail("overrides", name, "give numbers by names");
  }
  for (const access of bindings) checkOneOf("bindings", access, ACCESSES);
  return {
    entry,
    bindings: Uint32Array.from(bindings, (access) => ACCESSES.indexOf(access)),
    names: names.join(" "),
    values: Float64Array.from(Object.values(overrides)),
  };
}

/** Workgroups in each dimension. */
export function encodeGrid(grid: Grid): [x: number, y: number, z: number] {
  const [x, y = 1, z = 1] = typeof grid === "number" ? [grid] : grid;
  for (const n of [x, y, z]) checkWord("grid", n);
  return [x, y, z];
}

/** Arguments as the module takes them. */
export function encodeArguments(args: readonly KernelArgument[]): (RawTensor | Uint32Array)[] {
  return args.map((arg) => (arg instanceof GpuTensor ? rawOf("args", arg) : params(arg)));
}
