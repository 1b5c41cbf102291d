// Names of all options; `stream-options.ts` has those of streams. With the type `Names` the compiler rejects a missing name.
import type {
  CallOptions, CompressOptions, CompressorOptions, CompressPagesOptions, CompressResidentOptions, CompressSyncOptions,
  Configuration, DecompressOptions, DecompressPagesOptions, DecompressResidentOptions, DecompressSyncOptions, DictionaryOption,
  FrameOptions,
} from "../base/types.js";

/** A record with the name of every option as a key. */
export type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

export const call: Names<CallOptions> = { signal: true, onProgress: true };
export const frame: Names<FrameOptions> = { blockSize: true, level: true, contentChecksum: true, blockChecksums: true, index: true };
export const compressor: Names<CompressorOptions> = {
  backend: true, powerPreference: true, allowSoftware: true, level: true, deterministic: true, workers: true, createWorker: true,
  modules: true, device: true, calibration: true, onDeviceLost: true,
};
export const configuration: Names<Configuration> = { modules: true, createWorker: true, workers: true };
export const modules: Names<Required<Configuration>["modules"]> = { cpu: true, cuda: true, dictionary: true, formats: true, gpu: true, seek: true, snapshot: true, tensor: true };
export const dictionary: Names<DictionaryOption> = { dictionary: true };
export const compressSync: Names<CompressSyncOptions> = { ...frame, ...dictionary, format: true, maxOutputSize: true };
export const compress: Names<CompressOptions> = { ...compressSync, ...call, transfer: true };
export const decompressSync: Names<DecompressSyncOptions> = { ...dictionary, format: true, maxOutputSize: true, into: true };
export const decompress: Names<DecompressOptions> = { ...decompressSync, ...call, transfer: true };
export const compressPages: Names<CompressPagesOptions> = { ...call, ...dictionary, transfer: true, pageSize: true, level: true, into: true };
export const decompressPages: Names<DecompressPagesOptions> = { ...call, ...dictionary, into: true };
export const compressResident: Names<CompressResidentOptions> = { ...call, ...dictionary, byteLength: true, pageSize: true, level: true };
export const decompressResident: Names<DecompressResidentOptions> = { ...call, ...dictionary, maxOutputSize: true, buffer: true, usage: true };
