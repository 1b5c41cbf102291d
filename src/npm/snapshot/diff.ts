import type { Snapshot, SnapshotDiff } from "./types.js";
import { stored } from "./version.js";

/** Returns the pages of `later` that differ from those of `earlier`: two versions of one page size, which need not continue each
 * other. Compares hashes, and reads no content. */
export function diff(earlier: Snapshot, later: Snapshot): SnapshotDiff {
  const [before, after] = [stored("earlier", earlier), stored("later", later)];
  const numbers = after.version.diff(before.version);
  const changed = Array.from({ length: numbers.length / 3 }, (_, i) => {
    const [region, start, end] = numbers.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
    return { region: (after.regions[region] as Snapshot["regions"][number]).name, start, end };
  });
  const names = after.regions.map(({ name }) => name);
  return {
    changed,
    changedBytes: changed.reduce((sum, { start, end }) => sum + end - start, 0),
    removed: before.regions.map(({ name }) => name).filter((name) => !names.includes(name)),
  };
}
