// Statistics over the rounds of a measurement.

/** Times in milliseconds. */
export interface Spread {
  median: number;
  /** The best and the worst time. */
  least: number;
  most: number;
}

/** Times in both directions. */
export interface Times {
  compressMs: number;
  decompressMs: number;
}

/** Returns median and range of `values`, which must not be empty. */
export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
}

/** Returns the spread of both directions. */
export function spreadsOf(runs: Times[]): { compress: Spread; decompress: Spread } {
  return {
    compress: spreadOf(runs.map(({ compressMs }) => compressMs)),
    decompress: spreadOf(runs.map(({ decompressMs }) => decompressMs)),
  };
}

/** Returns true if other work disturbed a measurement: the worst time is more than twice the best. */
export function isBusy({ least, most }: Spread): boolean {
  return most > 2 * least;
}

/** Returns the throughput in MB/s (10^6 bytes); null without bytes or time. */
export function megabytesPerSecond(bytes: number, milliseconds: number): number | null {
  return bytes > 0 && milliseconds > 0 ? bytes / 1e3 / milliseconds : null;
}
