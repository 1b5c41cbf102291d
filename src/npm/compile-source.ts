import type { ModuleSource } from "./types.js";

/** The module that is to be had from `source`. */
export async function compileSource(source: Awaited<ModuleSource>): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof Response === "function" && source instanceof Response) return compileResponse(source);
  const url = String(source);
  if (url.startsWith("file:")) return WebAssembly.compile(await readFile(new URL(url)));
  return compileResponse(await fetch(url));
}

/** Servers that do not know the type of wasm files cost the compilation while it streams in, no more. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`${response.url} gives status ${response.status}`);
  const isStreamable = response.headers.get("content-type")?.startsWith("application/wasm") ?? false;
  if (isStreamable && WebAssembly.compileStreaming) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Node does not fetch files. Bundlers for browsers do not see this import. */
async function readFile(url: URL): Promise<BufferSource> {
  const name = "node:fs/promises";
  const fs = (await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)) as {
    readFile(url: URL): Promise<Uint8Array<ArrayBuffer>>;
  };
  return fs.readFile(url);
}
