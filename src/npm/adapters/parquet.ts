// LZ4 for hyparquet and hyparquet-writer: the codecs LZ4_RAW and LZ4 of Parquet.
import type { Bytes } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import { type CpuCalls, cpuCalls, type ReaderOptions, taken, type WriterOptions } from "./calls.js";

export { PagepressError } from "../base/errors.js";
export type { ReaderOptions, WriterOptions } from "./calls.js";

/** Option `compressors` of hyparquet's readers. */
export interface ParquetDecompressors {
  LZ4(bytes: Uint8Array, outputLength: number): Bytes;
  LZ4_RAW(bytes: Uint8Array, outputLength: number): Bytes;
}

/** Option `compressors` of hyparquet-writer. */
export interface ParquetCompressors {
  LZ4(bytes: Uint8Array): Bytes;
  LZ4_RAW(bytes: Uint8Array): Bytes;
}

/** Bytes of the two lengths before the first block of Hadoop's framing. */
const HADOOP_PREFIX_BYTES = 8;
/** First bytes of an LZ4 frame, little-endian. */
const FRAME_MAGIC = 0x184d2204;

/** Loads the CPU module, and returns the decompressors of a reader:
 * `parquetReadObjects({ file, compressors: await decompressors() })`. */
export async function decompressors(options: ReaderOptions = {}): Promise<ParquetDecompressors> {
  const calls = await cpuCalls(options, false);
  return {
    LZ4: (bytes, outputLength) => decompressOld(calls, taken(bytes), outputLength),
    LZ4_RAW: (bytes, outputLength) => calls.decompressSized(bytes, "block", outputLength),
  };
}

/** Loads the CPU module, and returns the compressors of a writer:
 * `parquetWriteBuffer({ columnData, codec: "LZ4_RAW", compressors: await compressors() })`. */
export async function compressors(options: WriterOptions = {}): Promise<ParquetCompressors> {
  const calls = await cpuCalls(options, true);
  return { LZ4: (bytes) => calls.compress(bytes, "hadoop"), LZ4_RAW: (bytes) => calls.compress(bytes, "block") };
}

/** Decompresses a page of the codec LZ4, which has had three framings: that of Hadoop, which most programs write; a frame; and
 * a block alone, in files of early versions of parquet-cpp. As in parquet-cpp, bytes that are not Hadoop's are tried as the
 * others. */
function decompressOld(calls: CpuCalls, bytes: Uint8Array, outputLength: number): Bytes {
  if (mayBeHadoop(bytes, outputLength)) {
    try {
      return calls.decompressSized(bytes, "hadoop", outputLength);
    } catch (error) {
      const { code } = error as PagepressError;
      if (code === "OUT_OF_MEMORY" || code === "INTERNAL" || code === "INVALID_ARGUMENT") throw error;
    }
  }
  const isFrame = bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === FRAME_MAGIC;
  return calls.decompressSized(bytes, isFrame ? "frame" : "block", outputLength);
}

/** Returns true if the first two lengths are possible in Hadoop's framing. */
function mayBeHadoop(bytes: Uint8Array, outputLength: number): boolean {
  if (bytes.length < HADOOP_PREFIX_BYTES) return outputLength === 0;
  const lengths = viewOf(bytes);
  return lengths.getUint32(0) <= outputLength && lengths.getUint32(4) <= bytes.length - HADOOP_PREFIX_BYTES;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
