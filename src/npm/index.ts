export { configure } from "./api/configure.js";
export { createCompressor } from "./api/create-compressor.js";
export { compress, decompress } from "./api/one-shot.js";
export { timingOf, type Compressor } from "./api/compressor.js";
export { openFrame, type FrameAccess, type OpenFrameOptions, type ReadOptions } from "./api/open-frame.js";
export type { ResidentPages } from "./api/resident.js";
export type { FrameSource } from "./api/frame-source.js";
export { Lz4CompressionStream, Lz4DecompressionStream } from "./api/streams.js";
export type {
  Lz4CompressionStreamOptions, Lz4DecompressionStreamOptions, Lz4StreamOptions, StreamInput,
} from "./api/stream-options.js";
export { compressSync, decompressSync, init } from "./api/sync.js";
export { countIdenticalPages } from "./format/identical-pages.js";
export { PagepressError, type PagepressErrorCode } from "./base/errors.js";
export * from "./base/types.js";
