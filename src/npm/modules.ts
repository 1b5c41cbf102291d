import { compileSource } from "./compile-source.js";
import type { Gpu } from "./gpu.js";
import * as plainModule from "./plain.js";
import * as seekModule from "./seek.js";
import type { ModuleSource } from "./types.js";

/** What there is of each module, ready for use. */
interface Loaded {
  cpu: plainModule.Plain;
  gpu: Gpu;
  seek: seekModule.Seek;
}

type Name = keyof Loaded;

/** The WebAssembly of the modules, which bundlers find by these very lines. */
const files: Record<Name, () => ModuleSource> = {
  cpu: () => new URL("./cpu_bg.wasm", import.meta.url),
  gpu: () => new URL("./wasm/gpu_bg.wasm", import.meta.url),
  seek: () => new URL("./seek_bg.wasm", import.meta.url),
};

const starts: { [N in Name]: (compiling: Promise<WebAssembly.Module>) => Promise<Loaded[N]> } = {
  cpu: async (compiling) => (plain = await plainModule.start(await compiling)),
  gpu: async (compiling) => {
    const [gpu, module] = await Promise.all([import("./gpu.js"), compiling]);
    return gpu.start(module);
  },
  seek: async (compiling) => seekModule.start(await compiling),
};

/** What the entry `inline` brings along. */
const embedded: Partial<Record<Name, () => Promise<ModuleSource>>> = {};

const compiled = new Map<Name, Promise<WebAssembly.Module>>();
const loaded = new Map<Name, Promise<Loaded[Name]>>();

/** The module of the CPU, once it is ready for use. */
let plain: plainModule.Plain | undefined;

/** The module of the CPU, if it is ready for use. */
export function loadedPlain(): plainModule.Plain | undefined {
  return plain;
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
  return once(compiled, name, async () => compileSource(await (source ?? embedded[name]?.() ?? files[name]())));
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
