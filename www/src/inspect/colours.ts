// Colours of pages: a lightness scale for ratios, and two more hues for stored pages and fill pages.
import { colour } from "../shell/theme";

const STEPS = ["scale-0", "scale-1", "scale-2", "scale-3", "scale-4", "scale-5"];
/** The lowest ratio of each step. */
export const BOUNDS = [1, 1.25, 1.6, 2.2, 3.5, 8];

/** Returns the colours of the steps, then those of stored pages and fill pages. */
export function pageColours(): string[] {
  return [...STEPS, "stored", "fill"].map(colour);
}

/** Returns the index of a page's colour in `pageColours`. `kind` is its number in the table of a batch. */
export function colourIndex(kind: number, ratio: number): number {
  if (kind === 1) return STEPS.length;
  if (kind === 2) return STEPS.length + 1;
  let step = 0;
  while (step + 1 < BOUNDS.length && ratio >= (BOUNDS[step + 1] ?? Infinity)) step += 1;
  return step;
}
