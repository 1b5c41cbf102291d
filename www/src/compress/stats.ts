// Statistics over the runs of a benchmark.
import type { Run } from "../engines/calls";

export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** Returns median and range of `values`, which must not be empty. */
export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
}

/** Returns the spread of both directions in milliseconds. */
export function spreadsOf(runs: Run[]): { compress: Spread; decompress: Spread } {
  return {
    compress: spreadOf(runs.map(({ compressMs }) => compressMs)),
    decompress: spreadOf(runs.map(({ decompressMs }) => decompressMs)),
  };
}

/** Returns the throughput in MB/s (10^6 bytes); null when the time is below the clock's resolution. */
export function megabytesPerSecond(bytes: number, milliseconds: number): number | null {
  return bytes > 0 && milliseconds > 0 ? bytes / 1e3 / milliseconds : null;
}
