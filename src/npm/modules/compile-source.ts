import { builtin } from "../base/builtin.js";
import { PagepressError } from "../base/errors.js";
import type { ModuleSource } from "../base/types.js";

const WASM_MAGIC = 0x6d736100;
const REMEDY = "copy the package's .wasm file there, give `modules`, or import pagepress/inline";
const VITE = "with Vite add `optimizeDeps: { exclude: [\"pagepress\"] }`, else " + REMEDY;

/** Compiles the module of `source`. Rejects with `MODULE_LOAD`; its message names the source and a remedy. */
export async function compileSource(source: ModuleSource | undefined): Promise<WebAssembly.Module> {
  let from = "the source given in `modules`";
  try {
    const given = await source;
    if (given instanceof WebAssembly.Module) return given;
    if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return await compileBytes(given, from);
    if (typeof Response === "function" && given instanceof Response) {
      from = given.url || from;
      return await compileResponse(given, from);
    }
    from = String(given);
    if (from.startsWith("file:")) return await compileBytes(await readFile(new URL(from)), from);
    return await compileResponse(await fetch(from), from);
  } catch (error) {
    if (error instanceof PagepressError) throw error;
    throw failure(from, reasonOf(error), error);
  }
}

/** Compiles a response. Without the type `application/wasm` it is compiled after the download instead of during it. */
async function compileResponse(response: Response, from: string): Promise<WebAssembly.Module> {
  if (!response.ok) throw failure(from, `the server answers with status ${response.status}; ${REMEDY}`);
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/wasm") && WebAssembly.compileStreaming) return WebAssembly.compileStreaming(response);
  return compileBytes(await response.arrayBuffer(), from);
}

async function compileBytes(bytes: BufferSource, from: string): Promise<WebAssembly.Module> {
  const view = ArrayBuffer.isView(bytes) ? new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new DataView(bytes);
  if (view.byteLength < 4 || view.getUint32(0, true) !== WASM_MAGIC) {
    const isText = view.byteLength > 0 && view.getUint8(0) === 0x3c;
    throw failure(from, isText ? `the server answers with a page of HTML; ${VITE}` : `it is no WebAssembly; ${REMEDY}`);
  }
  return WebAssembly.compile(bytes);
}

/** Returns a message with the cause and the remedy. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/Content.Security.Policy/i.test(message)) return `${message}; allow 'wasm-unsafe-eval' in script-src`;
  if (error instanceof WebAssembly.CompileError) return `${message}; a browser with WebAssembly SIMD is needed`;
  return `${message}; ${REMEDY}`;
}

function failure(from: string, reason: string, cause?: unknown): PagepressError {
  return new PagepressError("MODULE_LOAD", `${from} cannot be loaded: ${reason}`, { cause });
}

/** Reads a file, since Node's `fetch` does not support `file:` URLs. */
async function readFile(url: URL): Promise<BufferSource> {
  const fs = await builtin<{ readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> }>("node:fs/promises");
  return fs.readFile(url);
}
