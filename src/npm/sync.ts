import { checkBytes, checkedLimit, checkOneOf } from "./arguments.js";
import { PagepressError, toPagepressError } from "./errors.js";
import { frameOptions } from "./frames.js";
import type { Glue } from "./glue.js";
import { anyModule, load } from "./modules.js";
import type { CompressSyncOptions, DecompressSyncOptions } from "./types.js";

/** Loads what `compressSync` and `decompressSync` need: the module of the CPU, unless one is loaded already. */
export async function init(): Promise<void> {
  try {
    if (!anyModule()) await load("cpu");
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Compresses `bytes` to an LZ4 frame on the CPU before it returns: the frame of `compress`. For small inputs, since
 * nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function compressSync(bytes: Uint8Array, options: CompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((glue) => {
    const { blockSize, level, contentChecksum, blockChecksums, index } = frameOptions(options, "fast");
    const limit = checkedLimit(options.maxOutputSize);
    checkBytes("bytes", bytes);
    return glue.compressSync(bytes, blockSize, level, contentChecksum, blockChecksums, index, limit);
  });
}

/** Decompresses `bytes` on the CPU before it returns. For small inputs, since nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function decompressSync(bytes: Uint8Array, options: DecompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((glue) => {
    const { format = "frame" } = options;
    const limit = checkedLimit(options.maxOutputSize);
    checkBytes("bytes", bytes);
    checkOneOf("format", format, ["frame", "block", "size-prefixed"]);
    return glue.decompressSync(bytes, format, limit);
  });
}

function call<T>(work: (glue: Glue) => T): T {
  const glue = anyModule();
  if (!glue) {
    throw new PagepressError("NOT_READY", "no module is loaded; await init() or createCompressor() before");
  }
  try {
    return work(glue);
  } catch (error) {
    throw toPagepressError(error);
  }
}
