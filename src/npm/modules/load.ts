import { PagepressError } from "../base/errors.js";
import { once } from "../base/once.js";
import type { CompiledModule, ModuleSource } from "../base/types.js";
import * as cpuGlue from "../wasm/cpu.js";
import * as gpuGlue from "../wasm/gpu.js";
import * as seekGlue from "../wasm/seek.js";
import type * as Dictionary from "../wasm/dictionary.js";
import type * as Snapshot from "../wasm/snapshot.js";
import type * as Tensor from "../wasm/tensor.js";
import { compileSource } from "./compile-source.js";
import { CpuModule } from "./cpu-module.js";
import { type Glue, Instance } from "./instance.js";
import { packageUrl } from "./package-url.js";

/** A module whose generated JavaScript only some scripts contain. */
export type ModuleWith<G> = Instance<G & Glue>;

/** The modules that use a GPU, for pages and for tensors, and the module that reads parts of files. */
export type GpuModule = Instance<typeof gpuGlue & Glue>;
export type TensorModule = Instance<typeof Tensor & Glue>;
export type SeekModule = Instance<typeof seekGlue & Glue>;
/** The module of snapshots, which has all of the CPU module, too. */
export type SnapshotModule = Instance<typeof Snapshot & Glue>;

/** The loaded form of each module. */
interface Loaded {
  cpu: CpuModule;
  gpu: GpuModule;
  seek: SeekModule;
}

/** The modules that only entries of their own use: their generated JavaScript is a parameter, and so is their file. */
type Separate = "cuda" | "dictionary" | "formats" | "snapshot" | "tensor";

/** The module of dictionaries, and its compiled form, for workers. */
interface DictionaryLoaded {
  readonly module: CpuModule;
  readonly compiled: CompiledModule;
}

type Name = keyof Loaded | Separate;

/** Returns the URL of the WebAssembly file of a module. Bundlers copy the files named by literal expressions
 * `new URL("./NAME_bg.wasm", import.meta.url)`, so each stands in a script that every user of the module contains, and no
 * other. File tracers for servers recognise them only in function bodies. */
export type File = () => URL;

const files: Record<keyof Loaded, File> = {
  cpu() { return new URL("./cpu_bg.wasm", import.meta.url); },
  gpu() { return new URL("./gpu_bg.wasm", import.meta.url); },
  seek() { return new URL("./seek_bg.wasm", import.meta.url); },
};

/** Starts each module. Their JavaScript is not imported dynamically: service workers do not support that, nor do workers
 * that are bundled to one classic script. */
const starts: { [N in keyof Loaded]: (compiling: Promise<WebAssembly.Module>) => Promise<Loaded[N]> } = {
  cpu: async (compiling) => (cpu = new CpuModule(await start(cpuGlue, compiling))),
  gpu: async (compiling) => new Instance(await start(gpuGlue, compiling)),
  seek: async (compiling) => new Instance(await start(seekGlue, compiling)),
};

/** Creates an instance of a module, and returns its generated JavaScript. */
async function start<G extends Glue>(glue: G, compiling: Promise<WebAssembly.Module>): Promise<G> {
  await glue.default({ module_or_path: await compiling });
  return glue;
}

/** Sources of modules that are not beside the JavaScript, set by the entry `inline` or by `configure`. */
const sources: Partial<Record<Name, ModuleSource | (() => Promise<ModuleSource>)>> = {};

const compiled = new Map<Name, Promise<WebAssembly.Module>>();
const loaded = new Map<Name, Promise<unknown>>();

/** The CPU module, once it is ready for use. */
let cpu: CpuModule | undefined;

/** Returns the CPU module if it is ready for use. */
export function loadedCpu(): CpuModule | undefined {
  return cpu;
}

/** Sets the sources of modules that are requested later without a source. */
export function setSources(from: typeof sources): void {
  Object.assign(sources, from);
}

/** Returns true if the module `name` was requested. */
export function isRequested(name: string): boolean {
  return compiled.has(name as Name);
}

/** Returns the module `name`, ready for use. It is fetched and compiled once; after a failure the next call tries again. */
export function load<N extends keyof Loaded>(name: N, source?: ModuleSource): Promise<Loaded[N]> {
  const kept = loaded as Map<Name, Promise<Loaded[N]>>;
  return once(kept, name, () => starts[name](compile(name, source)));
}

/** Returns the module of an entry of its own in the same way. */
export function loadWith<G extends object>(name: Separate, glue: G & Glue, file: File, source?: ModuleSource): Promise<ModuleWith<G>> {
  const kept = loaded as Map<Name, Promise<ModuleWith<G>>>;
  return once(kept, name, async () => new Instance(await start(glue, compileFrom(name, file, source))));
}

/** Returns the snapshot module in the same way. It is also the CPU module, unless that was requested before. */
export function loadSnapshot(glue: SnapshotModule["glue"], file: File, source?: ModuleSource): Promise<SnapshotModule> {
  const kept = loaded as Map<Name, Promise<SnapshotModule>>;
  return once(kept, "snapshot", async () => {
    const module = new CpuModule(await start(glue, compileFrom("snapshot", file, source)));
    cpu ??= module;
    if (!loaded.has("cpu")) loaded.set("cpu", Promise.resolve(module));
    return module as unknown as SnapshotModule;
  });
}

/** Returns the module of dictionaries in the same way, with its compiled form. Unlike the CPU module it needs a dictionary in each call. */
export function loadDictionary(glue: typeof Dictionary & Glue, file: File, source?: ModuleSource): Promise<DictionaryLoaded> {
  const kept = loaded as Map<Name, Promise<DictionaryLoaded>>;
  return once(kept, "dictionary", async () => {
    const compiling = compileFrom("dictionary", file, source);
    return { module: new CpuModule(await start(glue, compiling)), compiled: await compiling };
  });
}

/** Returns the compiled module `name`, in the form in which it is sent to workers. */
export function compile(name: keyof Loaded, source?: ModuleSource): Promise<CompiledModule> {
  return compileFrom(name, files[name], source);
}

function compileFrom(name: Name, file: File, source?: ModuleSource): Promise<CompiledModule> {
  const elsewhere = sources[name];
  const find = () => source ?? (typeof elsewhere === "function" ? elsewhere() : elsewhere) ?? locate(name, file);
  return once(compiled, name, async () => compileSource(find()));
}

/** Returns the URL of the file of the module `name`. */
function locate(name: Name, file: File): URL {
  try {
    return packageUrl(file());
  } catch (cause) {
    const remedy = name in files ? "import pagepress/inline, or give `modules`" : "give `modules`";
    const message = `${name}.wasm cannot be loaded: a bundle of this format does not know where it is (import.meta.url); ${remedy}`;
    throw new PagepressError("MODULE_LOAD", message, { cause });
  }
}
