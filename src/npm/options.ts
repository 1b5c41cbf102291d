// The names of all options. The types see to it that none is missing.
import type {
  CallOptions,
  CompressOptions,
  CompressorOptions,
  CompressPagesOptions,
  CompressResidentOptions,
  CompressSyncOptions,
  DecompressOptions,
  DecompressResidentOptions,
  DecompressSyncOptions,
  FrameOptions,
} from "./types.js";

/** Every option by its name. */
type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

export const callNames: Names<CallOptions> = { signal: true, onProgress: true };

export const frameNames: Names<FrameOptions> = {
  blockSize: true,
  level: true,
  contentChecksum: true,
  blockChecksums: true,
  index: true,
};
