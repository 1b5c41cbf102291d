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
export type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

const call: Names<CallOptions> = { signal: true, onProgress: true };
const frame: Names<FrameOptions> = { blockSize: true, level: true, contentChecksum: true, blockChecksums: true, index: true };
const compressor: Names<CompressorOptions> = {
  backend: true,
  powerPreference: true,
  allowSoftware: true,
  level: true,
  workers: true,
  createWorker: true,
  modules: true,
  calibration: true,
  onDeviceLost: true,
};
const compressSync: Names<CompressSyncOptions> = { ...frame, maxOutputSize: true };
const compress: Names<CompressOptions> = { ...compressSync, ...call, transfer: true };
const decompressSync: Names<DecompressSyncOptions> = { format: true, maxOutputSize: true };
const decompress: Names<DecompressOptions> = { ...decompressSync, ...call, transfer: true };
const compressPages: Names<CompressPagesOptions> = { ...call, transfer: true, pageSize: true, level: true };
const compressResident: Names<CompressResidentOptions> = { ...call, byteLength: true, pageSize: true, level: true };
const decompressResident: Names<DecompressResidentOptions> = { ...call, maxOutputSize: true, buffer: true, usage: true };

export const names = {
  call,
  frame,
  compressor,
  compress,
  compressSync,
  decompress,
  decompressSync,
  compressPages,
  compressResident,
  decompressResident,
};
