// Computes the size from which one engine is faster than another.
import type { SweepEngine, SweepPoint } from "../press/calls";

export type Way = "compress" | "decompress";

/** Returns the milliseconds of a point in one direction. */
export function timeOf(point: SweepPoint, way: Way): number {
  return way === "compress" ? point.compressMs : point.decompressMs;
}

/**
 * Returns the bytes from which `fast` is faster than `slow` at every larger size measured: 0 if it always is, null if it
 * never is.
 *
 * Interpolates between two sizes on a log-log scale.
 */
export function crossoverOf(
  points: SweepPoint[],
  way: Way,
  fast: SweepEngine = "webgpu",
  slow: SweepEngine = "cpu",
): number | null {
  const at = (engine: SweepEngine, bytes: number): number | undefined => {
    const point = points.find((one) => one.engine === engine && one.bytes === bytes);
    return point && timeOf(point, way);
  };
  const sizes = [...new Set(points.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  const gains = sizes.flatMap((bytes) => {
    const [ours, theirs] = [at(fast, bytes), at(slow, bytes)];
    return ours === undefined || theirs === undefined ? [] : [{ bytes, gain: Math.log(theirs / ours) }];
  });
  const last = gains.findLastIndex(({ gain }) => gain <= 0);
  if (gains.length === 0 || last === gains.length - 1) return null;
  const [below, above] = [gains[last], gains[last + 1]];
  if (!below || !above) return 0;
  const share = -below.gain / (above.gain - below.gain);
  return Math.round(below.bytes * (above.bytes / below.bytes) ** share);
}
