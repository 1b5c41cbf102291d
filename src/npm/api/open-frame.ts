import { checkSize, MAX_BYTES } from "../base/arguments.js";
import { joined } from "../base/bytes.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import { SerialQueue } from "../base/serial-queue.js";
import type { DictionaryOption, ModuleSource } from "../base/types.js";
import { moduleWith } from "../modules/dictionaries.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { load, type SeekModule } from "../modules/load.js";
import type * as Seek from "../wasm/seek.js";
import { openSource, type FrameSource, type Source } from "./frame-source.js";

export interface OpenFrameOptions extends DictionaryOption {
  /** Aborts opening, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Options of the requests for a URL: headers, credentials, mode. */
  fetch?: RequestInit;
  /** Source of the module `pagepress/seek.wasm`. Default: the file beside the package's JavaScript. */
  modules?: { seek?: ModuleSource };
}

export interface ReadOptions {
  /** Aborts the read, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Random access to the content of the LZ4 frames in a file. Created by `openFrame`. */
export class FrameAccess {
  readonly #source: Source;
  readonly #seek: SeekModule;
  readonly #newMap: () => Seek.FrameMap;
  #map: Seek.FrameMap | undefined;
  /** Generation of the module instance that contains `#map`. */
  #generation = 0;
  /** Mappings of the file, of which only one may run at a time. */
  readonly #mappings = new SerialQueue();
  #hasIndex = false;

  /** @internal */
  constructor(source: Source, seek: SeekModule | DictionaryModule) {
    this.#source = source;
    // The module of dictionaries has all that the module for parts of files has, but a dictionary creates the map.
    this.#seek = seek as SeekModule;
    const { byteLength, isRemote } = source;
    this.#newMap = () => {
      if ("frameMap" in seek) return seek.frameMap(byteLength, isRemote);
      return seek.make(({ FrameMap }) => new FrameMap(byteLength, isRemote));
    };
  }

  /** Size of the file in bytes. */
  get byteLength(): number {
    return this.#source.byteLength;
  }

  /** True if the file has an index. A file without one is scanned once, from its start to the requested content. */
  get hasIndex(): boolean {
    return this.#hasIndex;
  }

  /** Returns the total bytes of content. Without an index this scans the whole file. */
  contentLength(options: ReadOptions = {}): Promise<number> {
    return guarded(options.signal, async () => {
      return (await this.#mapTo(Number.MAX_SAFE_INTEGER, options.signal)).mappedBytes;
    });
  }

  /** Returns `length` bytes of content from `offset`, or fewer at the end of the content. Decompresses only the blocks that
   * contain them. Verifies block checksums; content checksums cannot be verified. */
  read(offset: number, length: number, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return guarded(options.signal, async () => {
      checkSize("offset", offset);
      checkSize("length", length, MAX_BYTES);
      const end = Math.min(offset + length, Number.MAX_SAFE_INTEGER);
      const map = await this.#mapTo(end, options.signal);
      const read = this.#seek.make(() => map.read(offset, end));
      const parts = [];
      try {
        for (let range = read.wanted(map); range; range = read.wanted(map)) {
          parts.push(read.supply(map, await this.#fetch(range, options.signal)));
        }
      } finally {
        read.free();
      }
      return joined(parts);
    });
  }

  /** Maps the content up to `end`.
   * @internal */
  async map(end: number, signal: AbortSignal | undefined): Promise<void> {
    this.#hasIndex = (await this.#mapTo(end, signal)).hasIndex;
  }

  #mapTo(end: number, signal: AbortSignal | undefined): Promise<Seek.FrameMap> {
    return this.#mappings.run(async () => {
      const map = this.#currentMap();
      for (let range = map.wanted(end); range; range = map.wanted(end)) map.supply(await this.#fetch(range, signal));
      return map;
    });
  }

  /** Returns the map; creates a new one if the module instance was replaced. */
  #currentMap(): Seek.FrameMap {
    if (this.#generation !== this.#seek.generation) this.#map = undefined;
    this.#map ??= this.#newMap();
    this.#generation = this.#seek.generation;
    return this.#map;
  }

  async #fetch(range: Seek.ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
    const { start, end } = range;
    range.free();
    signal?.throwIfAborted();
    const bytes = await this.#source.read(start, end, signal);
    if (bytes.length === end - start) return bytes;
    throw new PagepressError("READ", `the source gives ${bytes.length} bytes for ${end - start}: it was changed since it was opened`);
  }
}

/** Opens the LZ4 frames in memory, in a `Blob` or `File`, or at a URL, to read parts of their content.
 *
 * Opening a file with an index (`compress(bytes, { index: true })`) reads only its end. The index is checked against the
 * frames: against their headers and ends, and in memory and in blobs against the size of every block before those that are
 * read. A URL is read by HTTP range requests, and the sizes of blocks that are not read are trusted; a server that does not
 * support range requests sends the whole file, once. */
export async function openFrame(source: FrameSource, options: OpenFrameOptions = {}): Promise<FrameAccess> {
  const { signal, fetch = {}, modules, dictionary } = options;
  return guarded(signal, async () => {
    signal?.throwIfAborted();
    const [seek, opened] = await Promise.all([moduleWith({ dictionary }) ?? load("seek", modules?.seek), openSource(source, fetch, signal)]);
    const frame = new FrameAccess(opened, seek);
    // Finds an index, or checks that the file begins with a frame.
    await frame.map(1, signal);
    return frame;
  });
}

/** Returns the result of `work`. Rejects with the signal's reason if it is aborted, else with `PagepressError`s. */
async function guarded<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw toPagepressError(error);
  }
}
