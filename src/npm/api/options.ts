// Names of all options. With the type `Names` the compiler rejects a missing name.
import type {
  CallOptions,
  CompressOptions,
  CompressorOptions,
  CompressPagesOptions,
  CompressResidentOptions,
  CompressSyncOptions,
  Configuration,
  DecompressOptions,
  DecompressResidentOptions,
  DecompressSyncOptions,
  FrameOptions,
} from "../base/types.js";
import type { Lz4CompressionStreamOptions, Lz4DecompressionStreamOptions, Lz4StreamOptions } from "./streams.js";

/** A record with the name of every option as a key. */
export type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

const call: Names<CallOptions> = { signal: true, onProgress: true };
const frame: Names<FrameOptions> = { blockSize: true, level: true, contentChecksum: true, blockChecksums: true, index: true };
const compressor: Names<CompressorOptions> = {
  backend: true,
  powerPreference: true,
  allowSoftware: true,
  level: true,
  deterministic: true,
  workers: true,
  createWorker: true,
  modules: true,
  device: true,
  calibration: true,
  onDeviceLost: true,
};
const configuration: Names<Configuration> = { modules: true, createWorker: true, workers: true };
const modules: Names<Required<Configuration>["modules"]> = { cpu: true, gpu: true, seek: true, tensor: true };
const stream: Names<Lz4StreamOptions> = {
  ...compressor,
  ...call,
  compressor: true,
  transfer: true,
  writableStrategy: true,
  readableStrategy: true,
};
const compressionStream: Names<Lz4CompressionStreamOptions> = { ...stream, ...frame, contentSize: true };
const decompressionStream: Names<Lz4DecompressionStreamOptions> = { ...stream, maxOutputSize: true, inputSize: true };
const compressSync: Names<CompressSyncOptions> = { ...frame, format: true, maxOutputSize: true };
const compress: Names<CompressOptions> = { ...compressSync, ...call, transfer: true };
const decompressSync: Names<DecompressSyncOptions> = { format: true, maxOutputSize: true, into: true };
const decompress: Names<DecompressOptions> = { ...decompressSync, ...call, transfer: true };
const compressPages: Names<CompressPagesOptions> = { ...call, transfer: true, pageSize: true, level: true };
const compressResident: Names<CompressResidentOptions> = { ...call, byteLength: true, pageSize: true, level: true };
const decompressResident: Names<DecompressResidentOptions> = { ...call, maxOutputSize: true, buffer: true, usage: true };

export const names = {
  call,
  configuration,
  modules,
  compressor,
  compressionStream,
  decompressionStream,
  compress,
  compressSync,
  decompress,
  decompressSync,
  compressPages,
  compressResident,
  decompressResident,
};
