// What several runs say together.
import type { Run } from "../engines/calls";

export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** Median and range of `values`, of which there is at least one. */
export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
}

/** Milliseconds of both ways. */
export function spreadsOf(runs: Run[]): { compress: Spread; decompress: Spread } {
  return {
    compress: spreadOf(runs.map(({ compressMs }) => compressMs)),
    decompress: spreadOf(runs.map(({ decompressMs }) => decompressMs)),
  };
}

/** Megabytes (a million bytes) a second; null where time is too short for the clock to tell. */
export function megabytesPerSecond(bytes: number, milliseconds: number): number | null {
  return bytes > 0 && milliseconds > 0 ? bytes / 1e3 / milliseconds : null;
}
