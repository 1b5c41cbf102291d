import { checkOneOf, checkSize } from "../base/arguments.js";
import type { FrameOptions, Level } from "../base/types.js";

export const LEVELS: readonly Level[] = ["auto", "fast", "high", "sequential"];

/** All options of a frame. */
export function frameOptions(options: FrameOptions, defaultLevel: Level): Required<FrameOptions> {
  const { blockSize = 65536, level = defaultLevel } = options;
  const { contentChecksum = true, blockChecksums = false, index = false } = options;
  checkSize("blockSize", blockSize, 0xffff_ffff);
  checkOneOf("level", level, LEVELS);
  return { blockSize, level, contentChecksum, blockChecksums, index };
}
