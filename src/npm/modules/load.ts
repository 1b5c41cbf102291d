import { PagepressError } from "../base/errors.js";
import type { CompiledModule, ModuleSource } from "../base/types.js";
import * as cpuGlue from "../wasm/cpu.js";
import * as gpuGlue from "../wasm/gpu.js";
import * as seekGlue from "../wasm/seek.js";
import type * as Tensor from "../wasm/tensor.js";
import { compileSource } from "./compile-source.js";
import { CpuModule } from "./cpu-module.js";
import { type Glue, Instance } from "./instance.js";
import { packageUrl } from "./package-url.js";

/** The modules that drive a GPU, for pages and for tensors, and the one that reads parts of files. */
export type GpuModule = Instance<typeof gpuGlue & Glue>;
export type TensorModule = Instance<typeof Tensor & Glue>;
export type SeekModule = Instance<typeof seekGlue & Glue>;

/** The loaded form of each module. */
interface Loaded {
  cpu: CpuModule;
  gpu: GpuModule;
  seek: SeekModule;
}

type Name = keyof Loaded | "tensor";

/** The WebAssembly of the modules, which bundlers find by these very lines. What traces the files of a server finds them in
 * bodies of functions only. */
const files: Record<Name, () => URL> = {
  cpu() { return new URL("./cpu_bg.wasm", import.meta.url); },
  gpu() { return new URL("./gpu_bg.wasm", import.meta.url); },
  seek() { return new URL("./seek_bg.wasm", import.meta.url); },
  tensor() { return new URL("./tensor_bg.wasm", import.meta.url); },
};

/** None is imported later: that is not for service workers, nor for workers that bundlers make one classic script of. */
const starts: { [N in keyof Loaded]: (compiling: Promise<WebAssembly.Module>) => Promise<Loaded[N]> } = {
  cpu: async (compiling) => (cpu = new CpuModule(await start(cpuGlue, compiling))),
  gpu: async (compiling) => new Instance(await start(gpuGlue, compiling)),
  seek: async (compiling) => new Instance(await start(seekGlue, compiling)),
};

/** The generated JavaScript of a module, with an instance. */
async function start<G extends Glue>(glue: G, compiling: Promise<WebAssembly.Module>): Promise<G> {
  await glue.default({ module_or_path: await compiling });
  return glue;
}

/** Sources of modules that are not beside the JavaScript: those in the entry `inline`, or of `configure`. */
const sources: Partial<Record<Name, ModuleSource | (() => Promise<ModuleSource>)>> = {};

const compiled = new Map<Name, Promise<WebAssembly.Module>>();
const loaded = new Map<Name, Promise<unknown>>();

/** The module of the CPU, once it is ready for use. */
let cpu: CpuModule | undefined;

/** The module of the CPU, if it is ready for use. */
export function loadedCpu(): CpuModule | undefined {
  return cpu;
}

/** Has modules taken from here from now on, unless a caller names another place. */
export function setSources(from: typeof sources): void {
  Object.assign(sources, from);
}

/** Returns true if the module `name` was requested. */
export function isRequested(name: string): boolean {
  return compiled.has(name as Name);
}

/** The module `name`, ready for use. It is fetched and compiled once, and again only if that failed. */
export function load<N extends keyof Loaded>(name: N, source?: ModuleSource): Promise<Loaded[N]> {
  const kept = loaded as Map<Name, Promise<Loaded[N]>>;
  return once(kept, name, () => starts[name](compile(name, source)));
}

/** The module of tensors, likewise. Its JavaScript is only in scripts that use it. */
export function loadTensor(glue: TensorModule["glue"], source?: ModuleSource): Promise<TensorModule> {
  const kept = loaded as Map<Name, Promise<TensorModule>>;
  return once(kept, "tensor", async () => new Instance(await start(glue, compile("tensor", source))));
}

/** The module `name`, compiled; workers get it as it is. */
export function compile(name: Name, source?: ModuleSource): Promise<CompiledModule> {
  const elsewhere = sources[name];
  const find = () => source ?? (typeof elsewhere === "function" ? elsewhere() : elsewhere) ?? locate(name);
  return once(compiled, name, async () => compileSource(find()));
}

/** Returns the URL of the file of the module `name`. */
function locate(name: Name): URL {
  try {
    return packageUrl(files[name]());
  } catch (cause) {
    const remedy = name === "tensor" ? "give `modules`" : "import pagepress/inline, or give `modules`";
    const message = `${name}.wasm cannot be loaded: a bundle of this format does not know where it is (import.meta.url); ${remedy}`;
    throw new PagepressError("MODULE_LOAD", message, { cause });
  }
}

function once<T>(kept: Map<Name, Promise<T>>, name: Name, make: () => Promise<T>): Promise<T> {
  const earlier = kept.get(name);
  if (earlier) return earlier;
  const making = make().catch((error: unknown) => {
    kept.delete(name);
    throw error;
  });
  kept.set(name, making);
  return making;
}
