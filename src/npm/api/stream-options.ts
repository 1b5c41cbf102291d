// Options of streams, and their names.
import type { BytesInput, CallOptions, CompressorOptions, DictionaryOption, FrameOptions } from "../base/types.js";
import type { Compressor } from "./compressor.js";
import { call, compressor, dictionary, frame, type Names } from "./options.js";

/** Bytes that can be written to a stream. The stream does not change them, and does not detach their buffer without
 * `transfer`; do not change them until their write has settled. */
export type StreamInput = BytesInput;

/** Options of both streams, in addition to those of the engine to open. */
export interface Lz4StreamOptions extends CompressorOptions, CallOptions, DictionaryOption {
  /** A compressor to use instead of a new one. It stays usable, and is not disposed of. */
  compressor?: Compressor;
  /** Detaches and frees the buffer of each chunk when its write is done, so that a long stream leaves less work to the
   * garbage collector. Default false. */
  transfer?: boolean;
  /** Queuing strategy of `writable`. Default: a high-water mark of 1 MiB of input. */
  writableStrategy?: QueuingStrategy<StreamInput>;
  /** Queuing strategy of `readable`. Default: a high-water mark of 1 MiB of output. */
  readableStrategy?: QueuingStrategy<Uint8Array<ArrayBuffer>>;
}

export interface Lz4CompressionStreamOptions extends Lz4StreamOptions, FrameOptions {
  /** Number of bytes that will be written, if known; it is stored in the header of the frame. Content of another length is
   * the error `CONTENT_SIZE_MISMATCH`. */
  contentSize?: number;
}

export interface Lz4DecompressionStreamOptions extends Lz4StreamOptions {
  /** Maximum number of bytes of output; more is the error `OUTPUT_LIMIT`. Default: no limit. */
  maxOutputSize?: number;
  /** Number of bytes that will be written, if known, for `onProgress`. */
  inputSize?: number;
}

const stream: Names<Lz4StreamOptions> = {
  ...compressor, ...call, ...dictionary, compressor: true, transfer: true, writableStrategy: true, readableStrategy: true,
};
export const compressionNames: Names<Lz4CompressionStreamOptions> = { ...stream, ...frame, contentSize: true };
export const decompressionNames: Names<Lz4DecompressionStreamOptions> = { ...stream, maxOutputSize: true, inputSize: true };
