import { checkOptions } from "../base/arguments.js";
import { toPagepressError } from "../base/errors.js";
import type { CompressorOptions } from "../base/types.js";
import { open } from "../codec/open.js";
import { Compressor } from "./compressor.js";
import * as names from "./options.js";

/** Opens an engine. Rejects with `BACKEND_UNAVAILABLE` and the reasons if the requested engine is not available. */
export async function createCompressor(options: CompressorOptions = {}): Promise<Compressor> {
  try {
    checkOptions(options, names.compressor);
    return new Compressor(await open(options), options);
  } catch (error) {
    throw toPagepressError(error);
  }
}
