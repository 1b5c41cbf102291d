import type { ModuleSource } from "../base/types.js";
import * as cpuGlue from "../wasm/cpu.js";
import type * as Gpu from "../wasm/gpu.js";
import * as seekGlue from "../wasm/seek.js";
import type * as Tensor from "../wasm/tensor.js";
import { compileSource } from "./compile-source.js";
import { CpuModule } from "./cpu-module.js";
import { type Glue, Instance } from "./instance.js";
import { packageUrl } from "./package-url.js";

/** The modules that drive a GPU, for pages and for tensors, and the one that reads parts of files. */
export type GpuModule = Instance<typeof Gpu & Glue>;
export type TensorModule = Instance<typeof Tensor & Glue>;
export type SeekModule = Instance<typeof seekGlue & Glue>;

/** What there is of each module, ready for use. */
interface Loaded {
  cpu: CpuModule;
  gpu: GpuModule;
  seek: SeekModule;
  tensor: TensorModule;
}

type Name = keyof Loaded;

/** The WebAssembly of the modules, which bundlers find by these very lines. */
const files: Record<Name, () => URL> = {
  cpu: () => new URL("./cpu_bg.wasm", import.meta.url),
  gpu: () => new URL("./gpu_bg.wasm", import.meta.url),
  seek: () => new URL("./seek_bg.wasm", import.meta.url),
  tensor: () => new URL("./tensor_bg.wasm", import.meta.url),
};

const starts: { [N in Name]: (compiling: Promise<WebAssembly.Module>) => Promise<Loaded[N]> } = {
  // Service workers import nothing later.
  cpu: async (compiling) => (cpu = new CpuModule(await start(cpuGlue, compiling))),
  seek: async (compiling) => new Instance(await start(seekGlue, compiling)),
  gpu: async (compiling) => new Instance(await start(import("../wasm/gpu.js"), compiling)),
  tensor: async (compiling) => new Instance(await start(import("../wasm/tensor.js"), compiling)),
};

/** The generated JavaScript of a module, with an instance. */
async function start<G extends Glue>(loading: G | Promise<G>, compiling: Promise<WebAssembly.Module>): Promise<G> {
  const [glue, module] = await Promise.all([loading, compiling]);
  await glue.default({ module_or_path: module });
  return glue;
}

/** What the entry `inline` brings along. */
const embedded: Partial<Record<Name, () => Promise<ModuleSource>>> = {};

const compiled = new Map<Name, Promise<WebAssembly.Module>>();
const loaded = new Map<Name, Promise<Loaded[Name]>>();

/** The module of the CPU, once it is ready for use. */
let cpu: CpuModule | undefined;

/** The module of the CPU, if it is ready for use. */
export function loadedCpu(): CpuModule | undefined {
  return cpu;
}

/** Has the modules taken from here from now on, unless a caller names another place. */
export function embed(sources: typeof embedded): void {
  Object.assign(embedded, sources);
}

/** The module `name`, ready for use. It is fetched and compiled once, and again only if that failed. */
export function load<N extends Name>(name: N, source?: ModuleSource): Promise<Loaded[N]> {
  const kept = loaded as Map<Name, Promise<Loaded[N]>>;
  return once(kept, name, () => starts[name](compile(name, source)));
}

/** The module `name`, compiled; workers get it as it is. */
export function compile(name: Name, source?: ModuleSource): Promise<WebAssembly.Module> {
  return once(compiled, name, () => compileSource(source ?? embedded[name]?.() ?? packageUrl(files[name]())));
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
