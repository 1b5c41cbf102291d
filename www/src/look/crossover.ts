// Computes the size from which the GPU is faster than the CPU.
import type { Engine } from "pagepress";
import type { SweepPoint } from "../press/calls";

export type Way = "compress" | "decompress";

/** Returns the milliseconds of a point in one direction. */
export function timeOf(point: SweepPoint, way: Way): number {
  return way === "compress" ? point.compressMs : point.decompressMs;
}

/**
 * Returns the bytes from which the GPU is faster at every larger size measured: 0 if it always is, null if it never is.
 *
 * Interpolates between two sizes on a log-log scale.
 */
export function crossoverOf(points: SweepPoint[], way: Way): number | null {
  const at = (engine: Engine, bytes: number): number | undefined => {
    const point = points.find((one) => one.engine === engine && one.bytes === bytes);
    return point && timeOf(point, way);
  };
  const sizes = [...new Set(points.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  const gains = sizes.flatMap((bytes) => {
    const [gpu, cpu] = [at("webgpu", bytes), at("cpu", bytes)];
    return gpu === undefined || cpu === undefined ? [] : [{ bytes, gain: Math.log(cpu / gpu) }];
  });
  const last = gains.findLastIndex(({ gain }) => gain <= 0);
  if (gains.length === 0 || last === gains.length - 1) return null;
  const [below, above] = [gains[last], gains[last + 1]];
  if (!below || !above) return 0;
  const share = -below.gain / (above.gain - below.gain);
  return Math.round(below.bytes * (above.bytes / below.bytes) ** share);
}
