import { checkedBytes, checkedLimit, checkOneOf } from "./arguments.js";
import { PagepressError, toPagepressError } from "./errors.js";
import { frameOptions } from "./frames.js";
import type { CpuModule } from "./cpu-module.js";
import { load, loadedCpu } from "./modules.js";
import type { CompressSyncOptions, DecompressSyncOptions } from "./types.js";
import { unshared } from "./views.js";

/** Loads what `compressSync` and `decompressSync` need: the module of the CPU, unless one is loaded already. */
export async function init(): Promise<void> {
  try {
    if (!loadedCpu()) await load("cpu");
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Compresses `bytes` to an LZ4 frame on the CPU before it returns: the frame that `compress` gives there. For small inputs, since
 * nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function compressSync(bytes: Uint8Array, options: CompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((cpu) => {
    const all = frameOptions(options, "auto");
    const limit = checkedLimit(options.maxOutputSize);
    return cpu.compressSync(unshared(checkedBytes("bytes", bytes)), all, limit);
  });
}

/** Decompresses `bytes` on the CPU before it returns. For small inputs, since nothing else runs meanwhile.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function decompressSync(bytes: Uint8Array, options: DecompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call((cpu) => {
    const { format = "frame" } = options;
    const limit = checkedLimit(options.maxOutputSize);
    const taken = unshared(checkedBytes("bytes", bytes));
    checkOneOf("format", format, ["frame", "block", "size-prefixed"]);
    return cpu.decompressSync(taken, format, limit);
  });
}

function call<T>(work: (cpu: CpuModule) => T): T {
  const cpu = loadedCpu();
  if (!cpu) {
    throw new PagepressError("NOT_READY", "no module is loaded; await init() or createCompressor() before");
  }
  try {
    return work(cpu);
  } catch (error) {
    throw toPagepressError(error);
  }
}
