// Positions in the messages of compilers.
import type { Position } from "./calls";

/** Returns the position in a message of a compiler: `line 3, column 7` or `3:7`. */
export function positionIn(message: string): Position | null {
  const found = /line (\d+)(?:,? column (\d+))?/i.exec(message) ?? /(?:^|[^\d])(\d+):(\d+)/.exec(message);
  return found ? { line: Number(found[1]), column: Number(found[2] ?? 1) } : null;
}
