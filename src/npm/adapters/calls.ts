// Options of adapters, and the calls that they share. Imports no module of the package that `pagepress/tensor` does not use: the
// bundler divides what entries share by the entries that need it, and a page would load one more file.
import { checkedBytes, checkedLimit, checkLimit, checkOneOf, checkOptions, checkSize } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import type { Format, Level, ModuleSource, OutputOptions } from "../base/types.js";
import { unshared } from "../base/views.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { LEVELS } from "../modules/enums.js";
import { load, loadedCpu } from "../modules/load.js";

/** Options of functions that decompress. */
export interface ReaderOptions extends OutputOptions {
  /** Sources of the WebAssembly modules. Default: the files beside the package's JavaScript. */
  modules?: { cpu?: ModuleSource; formats?: ModuleSource };
}

/** Options of functions that compress. */
export interface WriterOptions extends ReaderOptions {
  /** Level of compression. Default `"auto"`, which is `"sequential"`. */
  level?: Level;
}

const reader: Readonly<Record<keyof ReaderOptions, true>> = { maxOutputSize: true, modules: true };
const writer: Readonly<Record<keyof WriterOptions, true>> = { ...reader, level: true };
const modules: Readonly<Record<"cpu" | "formats", true>> = { cpu: true, formats: true };

/** Options of an adapter that have been checked. */
export interface Checked {
  readonly limit: number;
  readonly level: Level;
  readonly sources: { readonly cpu?: ModuleSource; readonly formats?: ModuleSource };
}

/** Returns the checked options of a function that decompresses or, with `isWriter`, also compresses. */
export function checkedOptions(options: WriterOptions, isWriter: boolean): Checked {
  if (isWriter) checkOptions(options, writer);
  else checkOptions<ReaderOptions>(options, reader);
  const { maxOutputSize, level = "auto", modules: sources = {} } = options;
  checkOptions(sources, modules);
  checkOneOf("level", level, LEVELS);
  return { limit: checkedLimit(maxOutputSize), level, sources };
}

/** Returns the result of `work`; throws or rejects with `PagepressError`s. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Returns the result of `work`, which loads a module. Rejects with `PagepressError`s. */
export async function loading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** Returns the bytes of an argument, which no other thread changes. */
export function taken(bytes: unknown): Uint8Array {
  return unshared(checkedBytes("bytes", bytes));
}

const FRAME = { blockSize: 65536, contentChecksum: false, blockChecksums: false, index: false };

/** Compression and decompression with the CPU module. */
export class CpuCalls {
  readonly #cpu: CpuModule;
  readonly #options: Checked;

  constructor(cpu: CpuModule, options: Checked) {
    this.#cpu = cpu;
    this.#options = options;
  }

  /** Compresses to a block, blocks, or a frame without checksums: what holds the frame has its own, or none. */
  compress(bytes: unknown, format: Format): Bytes {
    return guarded(() => {
      const { level, limit } = this.#options;
      return this.#cpu.compressSync(taken(bytes), format, { ...FRAME, level }, limit);
    });
  }

  /** Decompresses content of unknown length. */
  decompress(bytes: unknown, format: Format): Bytes {
    return guarded(() => this.#cpu.decompressSync(taken(bytes), format, { limit: this.#options.limit }));
  }

  /** Decompresses content of `length` bytes; other content is the error `CONTENT_SIZE_MISMATCH`. */
  decompressSized(bytes: unknown, format: Format, length: number): Bytes {
    return guarded(() => {
      checkSize("length", length);
      checkLimit(length, this.#options.limit);
      const content = this.#cpu.decompressSync(taken(bytes), format, { limit: length });
      if (content.length === length) return content;
      throw new PagepressError("CONTENT_SIZE_MISMATCH", `content size mismatch: expected ${length} bytes, found ${content.length}`);
    });
  }
}

/** Loads the CPU module, and returns its calls with these options. */
export function cpuCalls(options: WriterOptions, isWriter: boolean): Promise<CpuCalls> {
  return loading(async () => {
    const checked = checkedOptions(options, isWriter);
    return new CpuCalls(await load("cpu", checked.sources.cpu), checked);
  });
}

/** Returns the calls of a CPU module that is loaded already. Throws `NOT_READY` before. */
export function loadedCalls(limit: number | undefined): CpuCalls {
  const cpu = loadedCpu();
  if (!cpu) throw new PagepressError("NOT_READY", "no module is loaded; await init() before");
  return new CpuCalls(cpu, checkedOptions(limit === undefined ? {} : { maxOutputSize: limit }, false));
}

/** Loads the CPU module, which the other functions need. */
export async function init(): Promise<void> {
  await cpuCalls({}, false);
}
