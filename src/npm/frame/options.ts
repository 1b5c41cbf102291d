import { checkOneOf, checkSize, fail } from "../base/arguments.js";
import type { Format, FrameOptions, Level } from "../base/types.js";
import { FORMATS, LEVELS } from "../modules/enums.js";

/** Returns the format of compressed bytes; throws `INVALID_ARGUMENT` if it is unknown. */
export function checkedFormat({ format = "frame" }: { format?: Format }): Format {
  if (format !== "frame") checkOneOf("format", format, FORMATS);
  return format;
}

/** Returns `level`, by default `"auto"`, which is replaced by `auto`. Throws `INVALID_ARGUMENT` if it is unknown. */
export function checkedLevel(level: Level = "auto", auto: Level = "auto"): Level {
  if (level === "auto") return auto;
  checkOneOf("level", level, LEVELS);
  return level;
}

/** Throws `INVALID_ARGUMENT` for options that only frames support. */
function refuseFrameOptions(options: FrameOptions, format: Format): void {
  for (const name of ["blockSize", "contentChecksum", "blockChecksums", "index"] as const) {
    if (options[name] !== undefined) fail(name, String(options[name]), `leave it out with the format "${format}", which has none`);
  }
}

/** Returns the options of a frame of this level, completed with defaults. Other formats support only the level. */
export function frameOptions(options: FrameOptions, level: Level, format: Format = "frame"): Required<FrameOptions> {
  if (format !== "frame") refuseFrameOptions(options, format);
  const { blockSize = 65536, contentChecksum = true, blockChecksums = false, index = false } = options;
  checkSize("blockSize", blockSize, 0xffff_ffff);
  return { blockSize, level, contentChecksum, blockChecksums, index };
}
