import type { Format, Level } from "../base/types.js";

/** Levels by their numbers in the modules. */
const NUMBERED: readonly Level[] = ["fast", "high", "sequential"];

export const LEVELS: readonly Level[] = ["auto", ...NUMBERED];

/** Formats by their numbers in the module of the CPU. */
export const FORMATS: readonly Format[] = ["frame", "block", "size-prefixed", "hadoop"];

/** The number of `level` in the modules; for `"auto"` that of `fastest`. */
export function levelNumber(level: Level, fastest: Level): number {
  return NUMBERED.indexOf(level === "auto" ? fastest : level);
}
