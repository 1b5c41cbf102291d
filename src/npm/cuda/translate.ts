import type { Names } from "../api/options.js";
import { checkOneOf, checkOptions, checkSize, fail } from "../base/arguments.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import type { Translated } from "../wasm/cuda.js";
import { located } from "./located.js";
import { loadCuda, type CudaModule } from "./module.js";
import type { CudaKernelSignature, CudaModuleOptions, CudaOptions, CudaParameter, CudaTarget, TranslateCudaOptions, TranslatedCuda } from "./types.js";

/** Languages in the order of their numbers in the module. */
const TARGETS: readonly CudaTarget[] = ["wgsl", "ptx", "spirv", "msl", "hlsl"];
/** Kinds of parameters in the order of their numbers in the module. */
const KINDS = ["read", "read-write", "i32", "u32", "f32", "struct", "i64", "u64"] as const;
const MAX_SHARED_BYTES = 2 ** 20;

/** @internal Names of the options of `compileCuda`. */
export const optionNames: Names<CudaOptions> = { entry: true, block: true, sharedBytes: true, defines: true, narrowDoubles: true, modules: true };
const translateNames: Names<TranslateCudaOptions> = { ...optionNames, target: true, subgroups: true, float16: true, int64: true };

/** Translates a kernel in CUDA C. Rejects with `KERNEL_COMPILE`, `line` and `column` of the source, and the remedy. The first call
 * loads the module `pagepress/cuda.wasm`. */
export async function translateCuda(source: string, options: TranslateCudaOptions = {}): Promise<TranslatedCuda> {
  try {
    checkOptions(options, translateNames);
    const { target = "wgsl" } = options;
    checkOneOf("target", target, TARGETS);
    return await translated(source, options);
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Lists the kernels of a source in CUDA C, in their order. Rejects as `translateCuda`. */
export async function listCudaKernels(source: string, { modules }: CudaModuleOptions = {}): Promise<CudaKernelSignature[]> {
  try {
    return kernelsOf(await loadCuda(modules?.cuda), text("source", source));
  } catch (error) {
    throw toPagepressError(error);
  }
}

function kernelsOf(module: CudaModule, source: string): CudaKernelSignature[] {
  const fields = located(() => module.run(({ cudaKernels }) => cudaKernels(source)));
  return Array.from({ length: fields.length / 3 }, (_, i) => {
    const [name = "", template = "", line = ""] = fields.slice(3 * i, 3 * i + 3);
    return { name, template: template === "" ? [] : template.split(", "), line: Number(line) };
  });
}

/** Returns the name of the only kernel; throws an error that lists the kernels if there is not one. */
function onlyKernel(module: CudaModule, source: string): string {
  const kernels = kernelsOf(module, source);
  const [only] = kernels;
  if (only && kernels.length === 1 && only.template.length === 0) return only.name;
  if (!only) throw new PagepressError("KERNEL_COMPILE", "the source has no __global__ function");
  const names = kernels.map(({ name, template }) => (template.length > 0 ? `${name}<${template.join(", ")}>` : name));
  return fail("entry", "undefined", `give one of the kernels: ${names.join("; ")}`);
}

/** @internal Translates a kernel with checked options. */
export async function translated(source: string, options: TranslateCudaOptions): Promise<TranslatedCuda> {
  const { block = 256, sharedBytes = 0, defines = {}, narrowDoubles, subgroups, float16, int64, target = "wgsl" } = options;
  text("source", source);
  const [x, y = 1, z = 1, ...more] = typeof block === "number" ? [block] : (block as readonly [number, ...number[]]);
  const threads: [number, number, number] = [x, y, z];
  for (const n of [...threads, ...more]) checkSize("block", n, 2 ** 32 - 1);
  if (more.length > 0) fail("block", String(block), "give the threads along x, y and z");
  checkSize("sharedBytes", sharedBytes, MAX_SHARED_BYTES);
  const pairs = Object.entries(defines).flatMap(([name, value]) => [name, String(value)]);
  const flags = { "narrow-doubles": narrowDoubles, subgroups, float16, int64 };
  const features = Object.entries(flags).flatMap(([name, isOn]) => (isOn ? [name] : []));
  const module = await loadCuda(options.modules?.cuda);
  const entry = options.entry === undefined ? onlyKernel(module, source) : text("entry", options.entry);
  const compile = (): Translated =>
    module.make(({ compileCuda }) => compileCuda(source, entry, Uint32Array.from(threads), sharedBytes, pairs, features));
  const compiled = located(compile);
  try {
    const bytes = module.run(() => compiled.write(TARGETS.indexOf(target))) as Uint8Array<ArrayBuffer>;
    return {
      text: target === "spirv" ? "" : new TextDecoder().decode(bytes),
      bytes,
      entry: compiled.entry,
      block: threads,
      ...parametersOf(compiled),
      notes: compiled.notes,
    };
  } finally {
    compiled.free();
  }
}

function parametersOf(compiled: Translated): Pick<TranslatedCuda, "parameters" | "uniform"> {
  const { paramNames, params, uniformBytes } = compiled;
  const parameters = paramNames.map((name, i): CudaParameter => {
    const [number = 0, place = 0, byteLength = 0] = params.subarray(3 * i, 3 * i + 3);
    const kind = KINDS[number] ?? "struct";
    if (kind === "read" || kind === "read-write") return { name, kind, binding: place, elementBytes: byteLength };
    return { name, kind, offset: place, byteLength };
  });
  const binding = parameters.filter((parameter) => "binding" in parameter).length;
  return { parameters, uniform: uniformBytes > 0 ? { binding, byteLength: uniformBytes } : null };
}

function text(name: string, value: unknown): string {
  return typeof value === "string" ? value : fail(name, typeof value, "give a text");
}
