import { compileSource } from "./compile-source.js";
import type { Gpu } from "./gpu.js";
import { Plain, start } from "./plain.js";
import type { Modules, ModuleSource } from "./types.js";

/** The WebAssembly of the two modules, which bundlers find by these very lines. */
const files: Record<keyof Modules, () => ModuleSource> = {
  cpu: () => new URL("./cpu_bg.wasm", import.meta.url),
  gpu: () => new URL("./gpu_bg.wasm", import.meta.url),
};

/** What the entry `inline` brings along. */
const embedded: Partial<Record<keyof Modules, () => Promise<ModuleSource>>> = {};

const compiled = new Map<keyof Modules, Promise<WebAssembly.Module>>();
const loaded = new Map<keyof Modules, Promise<Plain | Gpu>>();

/** The module of the CPU, once it is ready for use. */
let plain: Plain | undefined;

/** The module of the CPU, if it is ready for use. */
export function loadedPlain(): Plain | undefined {
  return plain;
}

/** Has the modules taken from here from now on, unless a caller names another place. */
export function embed(sources: typeof embedded): void {
  Object.assign(embedded, sources);
}

/** The module `name`, ready for use. It is fetched and compiled once, and again only if that failed. */
export function load(name: "cpu", source?: ModuleSource): Promise<Plain>;
export function load(name: "gpu", source?: ModuleSource): Promise<Gpu>;
export function load(name: keyof Modules, source?: ModuleSource): Promise<Plain | Gpu> {
  return once(loaded, name, async () => {
    const compiling = compile(name, source);
    if (name === "cpu") return (plain = await start(await compiling));
    const [gpu, module] = await Promise.all([import("./gpu.js"), compiling]);
    return gpu.start(module);
  });
}

/** The module `name`, compiled; workers get it as it is. */
export function compile(name: keyof Modules, source?: ModuleSource): Promise<WebAssembly.Module> {
  return once(compiled, name, async () => compileSource(await (source ?? embedded[name]?.() ?? files[name]())));
}

function once<T>(kept: Map<keyof Modules, Promise<T>>, name: keyof Modules, make: () => Promise<T>): Promise<T> {
  const earlier = kept.get(name);
  if (earlier) return earlier;
  const making = make().catch((error: unknown) => {
    kept.delete(name);
    throw error;
  });
  kept.set(name, making);
  return making;
}
