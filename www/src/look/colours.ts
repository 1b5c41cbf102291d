// The colours of pages: one scale of lightness for ratios, and two other hues for pages that are no LZ4 blocks.
import { colour } from "../shell/theme";

const STEPS = ["scale-0", "scale-1", "scale-2", "scale-3", "scale-4", "scale-5"];
/** Ratios at which the steps begin. */
export const BOUNDS = [1, 1.25, 1.6, 2.2, 3.5, 8];

/** Colours by step; then that of stored and of filled pages. */
export function pageColours(): string[] {
  return [...STEPS, "stored", "fill"].map(colour);
}

/** Where in `pageColours` a page's colour is. `kind` is its number in the table of a batch. */
export function colourIndex(kind: number, ratio: number): number {
  if (kind === 1) return STEPS.length;
  if (kind === 2) return STEPS.length + 1;
  let step = 0;
  while (step + 1 < BOUNDS.length && ratio >= (BOUNDS[step + 1] ?? Infinity)) step += 1;
  return step;
}
