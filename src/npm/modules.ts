import type { Glue } from "./glue.js";

/** The two modules. Each is fetched and compiled when it is first asked for, and again if that failed. */
const modules = {
  cpu: { glue: () => import("./cpu.js"), url: () => new URL("./cpu_bg.wasm", import.meta.url) },
  gpu: { glue: () => import("./gpu.js"), url: () => new URL("./gpu_bg.wasm", import.meta.url) },
};

const loaded = new Map<keyof typeof modules, Promise<Glue>>();
const started: Glue[] = [];

/** A module that is ready for use; all of them do what needs no GPU. */
export function anyModule(): Glue | undefined {
  return started[0];
}

/** The module `name`, ready for use. */
export function load(name: keyof typeof modules): Promise<Glue> {
  const earlier = loaded.get(name);
  if (earlier) return earlier;
  const loading = start(name).catch((error: unknown) => {
    loaded.delete(name);
    throw error;
  });
  loaded.set(name, loading);
  return loading;
}

async function start(name: keyof typeof modules): Promise<Glue> {
  const glue = await modules[name].glue();
  const url = modules[name].url();
  await glue.default({ module_or_path: url.protocol === "file:" ? await readFile(url) : url });
  started.push(glue);
  return glue;
}

/** Node does not fetch files. Bundlers for browsers do not see this import. */
async function readFile(url: URL): Promise<BufferSource> {
  const name = "node:fs/promises";
  const fs = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
    readFile(url: URL): Promise<Uint8Array<ArrayBuffer>>;
  };
  return fs.readFile(url);
}
