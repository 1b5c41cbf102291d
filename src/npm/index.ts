import { Compressor } from "./compressor.js";
import { toPagepressError } from "./errors.js";
import { open } from "./open.js";
import type { CompressorOptions } from "./types.js";

export type { Compressor } from "./compressor.js";
export { PagepressError, type PagepressErrorCode } from "./errors.js";
export {
  PAGE_STATUS,
  type AdapterInfo,
  type BackendInfo,
  type Calibration,
  type CalibrationRow,
  type Capabilities,
  type CheckedPages,
  type CompressOptions,
  type CompressPagesOptions,
  type CompressorOptions,
  type DecompressOptions,
  type Device,
  type DeviceCounters,
  type DeviceLoss,
  type Engine,
  type Level,
  type Modules,
  type ModuleSource,
  type PackedPages,
  type PackedPagesInput,
  type Timing,
} from "./types.js";

/** Opens an engine. Rejects with `BACKEND_UNAVAILABLE` and the reasons if the one asked for is not there. */
export async function createCompressor(options: CompressorOptions = {}): Promise<Compressor> {
  try {
    return new Compressor(await open(options), options.level ?? "fast", options.onDeviceLost);
  } catch (error) {
    throw toPagepressError(error);
  }
}
