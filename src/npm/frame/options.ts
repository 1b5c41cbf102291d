import { checkOneOf, checkSize, fail } from "../base/arguments.js";
import type { Format, FrameOptions, Level } from "../base/types.js";
import { FORMATS, LEVELS } from "../modules/enums.js";

/** Returns the format of compressed bytes; throws `INVALID_ARGUMENT` if it is unknown. */
export function checkedFormat({ format = "frame" }: { format?: Format }): Format {
  checkOneOf("format", format, FORMATS);
  return format;
}

/** Throws `INVALID_ARGUMENT` for options that only frames support. */
function refuseFrameOptions(options: FrameOptions, format: Format): void {
  for (const name of ["blockSize", "contentChecksum", "blockChecksums", "index"] as const) {
    if (options[name] !== undefined) fail(name, String(options[name]), `leave it out with the format "${format}", which has none`);
  }
}

/** Returns the options of a frame, completed with defaults. Other formats support only the level. */
export function frameOptions(options: FrameOptions, defaultLevel: Level, format: Format = "frame"): Required<FrameOptions> {
  if (format !== "frame") refuseFrameOptions(options, format);
  const { blockSize = 65536, level = defaultLevel } = options;
  const { contentChecksum = true, blockChecksums = false, index = false } = options;
  checkSize("blockSize", blockSize, 0xffff_ffff);
  checkOneOf("level", level, LEVELS);
  return { blockSize, level, contentChecksum, blockChecksums, index };
}
