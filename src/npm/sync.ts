import { checkedBytes, checkedLimit, checkOneOf } from "./arguments.js";
import { PagepressError, toPagepressError } from "./errors.js";
import { frameOptions } from "./frames.js";
import type { Plain } from "./plain.js";
import { loadedPlain, load } from "./modules.js";
import type { CompressSyncOptions, DecompressSyncOptions } from "./types.js";
import { unshared } from "./views.js";

/** Loads what `compressSync` and `decompressSync` need: the module of the CPU, unless one is loaded already. */
export async function init(): Promise<void> {
  try {
    if (!loadedPlain()) await load("cpu");
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Compresses `bytes` to an LZ4 frame on the CPU before it returns: the frame that `compress` gives there. For small inputs, since
 * nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function compressSync(bytes: Uint8Array, options: CompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((plain) => {
    const all = frameOptions(options, "auto");
    const limit = checkedLimit(options.maxOutputSize);
    return plain.compressSync(unshared(checkedBytes("bytes", bytes)), all, limit);
  });
}

/** Decompresses `bytes` on the CPU before it returns. For small inputs, since nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function decompressSync(bytes: Uint8Array, options: DecompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((plain) => {
    const { format = "frame" } = options;
    const limit = checkedLimit(options.maxOutputSize);
    const taken = unshared(checkedBytes("bytes", bytes));
    checkOneOf("format", format, ["frame", "block", "size-prefixed"]);
    return plain.decompressSync(taken, format, limit);
  });
}

function call<T>(work: (plain: Plain) => T): T {
  const plain = loadedPlain();
  if (!plain) {
    throw new PagepressError("NOT_READY", "no module is loaded; await init() or createCompressor() before");
  }
  try {
    return work(plain);
  } catch (error) {
    throw toPagepressError(error);
  }
}
