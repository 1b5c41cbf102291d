import { checkedBytes, checkedLimit, checkedTarget, checkOptions } from "../base/arguments.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import type { BytesInput, CompressSyncOptions, DecompressSyncOptions, DictionaryOption } from "../base/types.js";
import { unshared } from "../base/views.js";
import { checkedFormat, checkedLevel, frameOptions } from "../frame/options.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { moduleWith } from "../modules/dictionaries.js";
import { load, loadedCpu } from "../modules/load.js";
import * as names from "./options.js";

/** Loads the CPU module, which `compressSync` and `decompressSync` need, unless it is loaded already. */
export async function init(): Promise<void> {
  try {
    if (!loadedCpu()) await load("cpu");
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Compresses `bytes` to an LZ4 frame, or to another `format`, synchronously on the CPU. The bytes are those of `compress`
 * on the CPU. For small inputs, since it blocks the thread.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function compressSync(bytes: BytesInput, options: CompressSyncOptions = {}): Uint8Array<ArrayBuffer> {
  return call(options, (cpu) => {
    checkOptions(options, names.compressSync);
    const format = checkedFormat(options);
    const all = frameOptions(options, checkedLevel(options.level), format);
    const limit = checkedLimit(options.maxOutputSize);
    return cpu.compressSync(unshared(checkedBytes("bytes", bytes)), format, all, limit);
  });
}

/** Decompresses `bytes` synchronously on the CPU. For small inputs, since it blocks the thread.
 *
 * Throws `NOT_READY` before `init()` or `createCompressor()` has loaded a module. */
export function decompressSync<B extends ArrayBufferLike = ArrayBuffer>(
  bytes: BytesInput,
  options: DecompressSyncOptions<B> = {},
): Uint8Array<B> {
  return call(options, (cpu) => {
    checkOptions(options, names.decompressSync);
    const format = checkedFormat(options);
    const taken = unshared(checkedBytes("bytes", bytes));
    return cpu.decompressSync(taken, format, checkedTarget(options, taken)) as Uint8Array<ArrayBufferLike> as Uint8Array<B>;
  });
}

/** Calls `work` with the module of the dictionary in `options`, or with the CPU module. */
function call<T>(options: DictionaryOption, work: (cpu: CpuModule) => T): T {
  try {
    const cpu = moduleWith(options ?? {}) ?? loadedCpu();
    if (!cpu) throw new PagepressError("NOT_READY", "no module is loaded; await init() or createCompressor() before");
    return work(cpu);
  } catch (error) {
    throw toPagepressError(error);
  }
}
