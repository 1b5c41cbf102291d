import { checkOptions, fail } from "../base/arguments.js";
import { type Bytes, joined } from "../base/bytes.js";
import { disposal } from "../base/disposal.js";
import { Job } from "../base/job.js";
import type { CallOptions } from "../base/types.js";
import { call as callNames } from "../api/options.js";
import type { SnapshotModule } from "../modules/load.js";
import type * as Wasm from "../wasm/snapshot.js";
import { type Layer, layerOf, readParts } from "./layers.js";
import * as names from "./options.js";
import { checkedRange, type RegionRange } from "./regions.js";
import type { ByteRangeOptions, PageCounts, RegionInfo, Snapshot } from "./types.js";

/** Bytes to restore, and the layers to read them from. */
interface Range extends RegionRange {
  readonly layers?: readonly Layer[];
}

/** A version, and the layers that its pages refer to. */
export class StoredSnapshot implements Snapshot {
  readonly id: string;
  readonly previousId: string | null;
  readonly pageSize: number;
  readonly regions: readonly RegionInfo[];
  readonly byteLength: number;
  readonly counts: PageCounts;
  /** @internal */
  readonly module: SnapshotModule;
  /** @internal */
  readonly layers: readonly Layer[];
  /** The version that this one continues. @internal */
  readonly previous: StoredSnapshot | undefined;
  readonly #version: Wasm.Version;

  /** Takes a version of the module. @internal */
  constructor(module: SnapshotModule, raw: Wasm.Version, layer: Layer, previous?: StoredSnapshot) {
    const version = module.make(() => raw);
    this.module = module;
    this.#version = version;
    this.layers = [...(previous?.layers ?? []), layer];
    this.previous = previous;
    this.id = version.id;
    this.previousId = version.base ?? null;
    this.pageSize = version.pageSize;
    this.regions = Array.from(version.lengths, (byteLength, i) => ({ name: version.name(i) as string, byteLength }));
    this.byteLength = this.regions.reduce((sum, region) => sum + region.byteLength, 0);
    const [pages = 0, unchanged = 0, filled = 0, copied = 0, stored = 0, storedBytes = 0] = version.counts;
    this.counts = { pages, unchanged, filled, copied, stored, storedBytes };
  }

  get chainLength(): number {
    return this.layers.length;
  }

  /** The version in the module. @internal */
  get version(): Wasm.Version {
    return this.#version;
  }

  read({ signal, ...range }: ByteRangeOptions & { signal?: AbortSignal | undefined } = {}): Promise<Bytes> {
    return settled({ signal }, null, async (job) => {
      checkOptions(range, names.range);
      const { index, start, end } = checkedRange(this.regions, range);
      const bytes = new Uint8Array(end - start);
      await this.restoreTo(bytes, { index, start, end }, job);
      return bytes;
    });
  }

  async toFile(options: CallOptions = {}): Promise<Bytes> {
    checkOptions(options, callNames);
    return settled(options, this.byteLength, async (job) => {
      const parts = [];
      for await (const part of this.fileParts(job)) parts.push(part);
      return joined(parts);
    });
  }

  async flatten(options: CallOptions = {}): Promise<Snapshot> {
    checkOptions(options, callNames);
    return settled(options, this.byteLength, async (job) => {
      const parts = this.#version.flatParts();
      const blocks = (await readParts(this.layers, parts as Float64Array, job.signal)).slice();
      return new StoredSnapshot(this.module, this.#version.flatten(), layerOf([blocks]));
    });
  }

  /** Yields the file in parts. @internal */
  async *fileParts(job: Job): AsyncGenerator<Bytes> {
    const writer = this.module.make(({ FileWriter }) => new FileWriter(this.#version));
    let written = 0;
    try {
      for (let parts = writer.wanted(); parts; parts = writer.wanted()) {
        const part = writer.supply(await readParts(this.layers, parts as Float64Array, job.signal));
        written += part.length;
        yield part;
        job.report(Math.min(written, this.byteLength), written, "cpu");
        await job.yieldToEventLoop();
      }
    } finally {
      writer.free();
    }
  }

  /** Restores bytes `start..end` of a region to the start of `into`. @internal */
  async restoreTo(into: Uint8Array, range: Range, job: Job, onStep?: (length: number) => void): Promise<void> {
    const { index, start, end, layers = this.layers } = range;
    const restore = this.module.make(({ Restore }) => new Restore(this.#version, index, start, end));
    const expected = into.length;
    try {
      for (let [at, length] = [0, restore.nextBytes]; length > 0; at += length, length = restore.nextBytes) {
        const staged = await readParts(layers, restore.wanted() as Float64Array, job.signal);
        if (into.length !== expected) fail("memory", "one that grew or was transferred", "leave it as it is until the call is done");
        restore.supply(staged, into.subarray(at, at + length));
        onStep?.(length);
        await job.yieldToEventLoop();
      }
    } finally {
      restore.free();
    }
  }

  /** Frees the page table of this version. Other versions are not affected. */
  [disposal](): void {
    this.#version.free();
  }
}

/** Runs a call: checks its signal, and converts its errors. */
export async function settled<T>(options: CallOptions, totalBytes: number | null, work: (job: Job) => Promise<T>): Promise<T> {
  const job = new Job(options, totalBytes);
  try {
    job.check();
    return await work(job);
  } catch (error) {
    throw job.errorOf(error);
  }
}

/** Returns the implementation of a snapshot. Throws `INVALID_ARGUMENT` for other objects. */
export function stored(name: string, snapshot: unknown): StoredSnapshot {
  if (snapshot instanceof StoredSnapshot) return snapshot;
  return fail(name, String(snapshot), "give a snapshot of this package");
}
