// LZ4 for jsfive: HDF5's filters LZ4 (32004) and bitshuffle (32008).
import { PagepressError } from "../base/errors.js";
import { checkedOptions, guarded, loading, type ReaderOptions, taken } from "./calls.js";
import { loadFormats } from "./formats.js";

export { PagepressError } from "../base/errors.js";
export type { ReaderOptions } from "./calls.js";

/** Value of jsfive's map `Filters`: converts the bytes of a chunk. `clientData` are the filter's numbers in the file. */
export type Hdf5Filter = (chunk: ArrayBuffer, itemSize: number, clientData?: readonly number[]) => ArrayBuffer;

/** Numbers of the compressions in bitshuffle's client data. */
const NONE = 0;
const LZ4 = 2;
const ZSTD = 3;

/** Loads the module for formats, and returns the filter LZ4: `Filters.set(32004, await lz4())`. */
export async function lz4(options: ReaderOptions = {}): Promise<Hdf5Filter> {
  const { limit, module } = await opened(options);
  return (chunk) => guarded(() => module.run(({ decodeHdf5Lz4 }) => decodeHdf5Lz4(taken(chunk), limit)).buffer);
}

/** Loads the module for formats, and returns the filter bitshuffle, with LZ4 or without compression:
 * `Filters.set(32008, await bitshuffle())`. */
export async function bitshuffle(options: ReaderOptions = {}): Promise<Hdf5Filter> {
  const { limit, module } = await opened(options);
  return (chunk, itemSize, clientData = []) => guarded(() => {
    // Versions of the filter are in the first two numbers.
    const [, , elementSize = itemSize, blockElements = 0, compression = NONE] = clientData;
    const [bytes, size] = [taken(chunk), elementSize || itemSize];
    if (compression === LZ4) return module.run(({ decodeBitshuffle }) => decodeBitshuffle(bytes, size, limit)).buffer;
    if (compression === NONE) return module.run(({ bitUnshuffle }) => bitUnshuffle(bytes, size, blockElements)).buffer;
    const name = compression === ZSTD ? "zstd" : `compression ${compression}`;
    throw new PagepressError("NOT_LZ4", `this bitshuffle chunk of HDF5 is compressed with ${name}, not with LZ4`);
  });
}

function opened(options: ReaderOptions) {
  return loading(async () => {
    const { limit, sources } = checkedOptions(options, false);
    return { limit, module: await loadFormats(sources.formats) };
  });
}
