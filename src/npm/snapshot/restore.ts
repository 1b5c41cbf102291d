import { checkOptions, fail } from "../base/arguments.js";
import type { CallOptions } from "../base/types.js";
import { call as callNames } from "../api/options.js";
import type { Job } from "../base/job.js";
import { SerialQueue } from "../base/serial-queue.js";
import * as names from "./options.js";
import { readLayers } from "./layers.js";
import { bytesForRegion, checkedRange, type NamedMemory, namedMemories, type RegionRange } from "./regions.js";
import type { ByteRangeOptions, MemoryInput, RegionInfo, RestoreOptions, Snapshot } from "./types.js";
import { settled, stored, type StoredSnapshot } from "./version.js";

/** Writes the content of `snapshot` to `into`: one memory, or memories with the names of the regions. A memory of WebAssembly
 * grows to the length of its region; bytes of a longer memory behind it become zeros. With a range, writes only its bytes, to the
 * same offsets.
 *
 * Every page is compared with its hash; after an error `into` may hold part of the content. */
export async function restore(snapshot: Snapshot, into: MemoryInput, options: RestoreOptions = {}): Promise<void> {
  checkOptions(options, names.restore);
  const { signal, onProgress, ...range } = options;
  const from = stored("snapshot", snapshot);
  const isPart = Object.values(range).some((value) => value !== undefined);
  const ranges = isPart ? [checkedRange(from.regions, range)] : allOf(from);
  const total = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  const memories = namedMemories(into);
  // All memories are checked before one is written to.
  const targets = ranges.map(({ index }) => memoryOf(memories, (from.regions[index] as RegionInfo).name, ranges.length === 1));
  await settled({ signal, onProgress }, total, async (job) => {
    let done = 0;
    const layers = isPart ? from.layers : await readLayers(from.layers, signal);
    for (const [i, { index, start, end }] of ranges.entries()) {
      const { byteLength } = from.regions[index] as RegionInfo;
      const bytes = bytesForRegion(targets[i] as NamedMemory, isPart ? end : byteLength);
      await from.restoreTo(bytes.subarray(start, end), { index, start, end, layers }, job, (length) => {
        done += length;
        job.report(done, done, "cpu");
      });
      if (!isPart) bytes.fill(0, byteLength);
    }
  });
}

/** Restores pages when they are needed. Created by `restoreLazily`. */
export class LazyRestore {
  readonly #from: StoredSnapshot;
  readonly #memories: readonly NamedMemory[];
  /** One byte for each page of each region: 1 if it is restored. */
  readonly #done: readonly Uint8Array[];
  readonly #queue = new SerialQueue();
  #restoredBytes = 0;

  /** @internal */
  constructor(from: StoredSnapshot, memories: readonly NamedMemory[]) {
    this.#from = from;
    this.#memories = memories;
    this.#done = from.regions.map(({ byteLength }) => new Uint8Array(Math.ceil(byteLength / from.pageSize)));
  }

  /** Bytes that are restored so far. */
  get restoredBytes(): number {
    return this.#restoredBytes;
  }

  /** Restores the pages that hold a range of bytes, except those that are restored already. */
  ensure(range: ByteRangeOptions & { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const { signal, ...bytes } = range;
    return settled({ signal }, null, (job) => {
      checkOptions(bytes, names.range);
      const { index, start, end } = checkedRange(this.#from.regions, bytes);
      return this.#queue.run(() => this.#restore(index, start, end, job));
    });
  }

  /** Restores all pages that are left. */
  finish(options: CallOptions = {}): Promise<void> {
    return settled(options, this.#from.byteLength, async (job) => {
      checkOptions(options, callNames);
      for (const { index, start, end } of allOf(this.#from)) await this.#queue.run(() => this.#restore(index, start, end, job));
    });
  }

  async #restore(index: number, start: number, end: number, job: Job): Promise<void> {
    const { pageSize, regions } = this.#from;
    const [done, region] = [this.#done[index] as Uint8Array, regions[index] as RegionInfo];
    const last = Math.ceil(end / pageSize);
    for (let page = Math.floor(start / pageSize); page < last; page += 1) {
      if (done[page]) continue;
      const missing = done.subarray(page, last);
      const known = missing.indexOf(1);
      const n = known < 0 ? missing.length : known;
      const [from, to] = [page * pageSize, Math.min((page + n) * pageSize, region.byteLength)];
      const bytes = bytesForRegion(memoryOf(this.#memories, region.name, regions.length === 1), region.byteLength);
      await this.#from.restoreTo(bytes.subarray(from, to), { index, start: from, end: to }, job);
      done.fill(1, page, page + n);
      this.#restoredBytes += to - from;
      job.report(this.#restoredBytes, this.#restoredBytes, "cpu");
      page += n;
    }
  }
}

/** Prepares to restore `snapshot` to `into` page by page, on request. */
export function restoreLazily(snapshot: Snapshot, into: MemoryInput): LazyRestore {
  const from = stored("snapshot", snapshot);
  const memories = namedMemories(into);
  for (const { name, byteLength } of from.regions) bytesForRegion(memoryOf(memories, name, from.regions.length === 1), byteLength);
  return new LazyRestore(from, memories);
}

function allOf({ regions }: StoredSnapshot): RegionRange[] {
  return regions.map(({ byteLength }, index) => ({ index, start: 0, end: byteLength }));
}

/** Returns the memory for a region: the one of its name or, if no other region is restored, the only one. */
function memoryOf(memories: readonly NamedMemory[], name: string, isOnly: boolean): NamedMemory {
  const found = memories.find((memory) => memory.name === name) ?? (isOnly && memories.length === 1 ? memories[0] : undefined);
  return found ?? fail("into", `memories ${memories.map((memory) => memory.name).join(", ")}`, `give one for region ${name}, too`);
}
