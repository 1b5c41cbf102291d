import { checkOptions } from "./arguments.js";
import { Compressor } from "./compressor.js";
import { toPagepressError } from "./errors.js";
import { open } from "./open.js";
import { names } from "./options.js";
import type { CompressorOptions } from "./types.js";

export { timingOf, type Compressor } from "./compressor.js";
export { openFrame, type FrameAccess, type OpenFrameOptions, type ReadOptions } from "./access.js";
export type { ResidentPages } from "./resident.js";
export type { FrameSource } from "./source.js";
export {
  Lz4CompressionStream,
  Lz4DecompressionStream,
  type Lz4CompressionStreamOptions,
  type Lz4DecompressionStreamOptions,
  type Lz4StreamOptions,
  type StreamInput,
} from "./streams.js";
export { compressSync, decompressSync, init } from "./sync.js";
export { PagepressError, type PagepressErrorCode } from "./errors.js";
export {
  PAGE_STATUS,
  type AdapterInfo,
  type BackendInfo,
  type BytesInput,
  type Calibration,
  type CalibrationRow,
  type CallOptions,
  type Capabilities,
  type CheckedPages,
  type CompressOptions,
  type CompressorOptions,
  type CompressPagesOptions,
  type CompressResidentOptions,
  type CompressSyncOptions,
  type DecompressOptions,
  type DecompressResidentOptions,
  type DecompressSyncOptions,
  type Device,
  type DeviceBuffer,
  type DeviceCounters,
  type DeviceLoss,
  type Engine,
  type Format,
  type FrameOptions,
  type InputOptions,
  type Level,
  type Modules,
  type ModuleSource,
  type OutputOptions,
  type PackedPages,
  type PackedPagesInput,
  type Progress,
  type ResidentContent,
  type ResidentPart,
  type Timing,
} from "./types.js";

/** Opens an engine. Rejects with `BACKEND_UNAVAILABLE` and the reasons if the one asked for is not there. */
export async function createCompressor(options: CompressorOptions = {}): Promise<Compressor> {
  try {
    checkOptions(options, names.compressor);
    return new Compressor(await open(options), options.level ?? "auto", options.onDeviceLost);
  } catch (error) {
    throw toPagepressError(error);
  }
}
