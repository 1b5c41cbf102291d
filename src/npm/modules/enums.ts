import type { Format, Level } from "../base/types.js";

/** Levels in the order of their numbers in the modules. */
const NUMBERED: readonly Level[] = ["fast", "high", "sequential"];

export const LEVELS: readonly Level[] = ["auto", ...NUMBERED];

/** Formats in the order of their numbers in the CPU module. */
export const FORMATS: readonly Format[] = ["frame", "block", "size-prefixed", "hadoop"];

/** Returns the number of `level` in the modules; for `"auto"` the number of `fastest`. */
export function levelNumber(level: Level, fastest: Level): number {
  return NUMBERED.indexOf(level === "auto" ? fastest : level);
}
