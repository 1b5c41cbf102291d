import type { Level } from "./types.js";

/** Levels by their numbers in the modules. */
const NUMBERED: readonly Level[] = ["fast", "high", "sequential"];

export const LEVELS: readonly Level[] = ["auto", ...NUMBERED];

/** The number of `level` in the modules; for `"auto"` that of `fastest`. */
export function levelNumber(level: Level, fastest: Level): number {
  return NUMBERED.indexOf(level === "auto" ? fastest : level);
}
