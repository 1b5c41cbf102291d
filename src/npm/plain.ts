import { Content } from "./content.js";
import { PagepressError } from "./errors.js";
import type { ContentRead, FrameMap, FrameParts, Range } from "./codec.js";
import { type Bytes, Held, type MemoryExports, ModuleMemory, type Status } from "./module-memory.js";
import type { Level, PackedPages } from "./types.js";

/** What a module exports that needs no GPU. Objects and places in memory are numbers; `src/web/plain` says what each
 * function takes and gives. */
export interface Exports extends MemoryExports {
  begin_compression(blockSize: number, flags: number, contentSize: number): number;
  compress(frame: number, start: number, length: number, isLast: number): Status;
  push_pages(
    frame: number,
    content: number,
    contentLength: number,
    packed: number,
    packedLength: number,
    table: number,
    tableLength: number,
    pageSize: number,
    isLast: number,
  ): Status;
  free_compression(frame: number): void;
  begin_decompression(limit: number, groupBytes: number): number;
  add_input(frames: number, length: number): number;
  decompress(frames: number): Status;
  end_input(frames: number): Status;
  input_done(frames: number): number;
  free_decompression(frames: number): void;
  begin_sum(): number;
  add_to_sum(sum: number, start: number, length: number): number;
  free_sum(sum: number): void;
  decompress_block(start: number, length: number, isSizePrefixed: number, limit: number): Status;
  not_lz4(start: number, length: number): Status;
  compress_pages(start: number, length: number, pageSize: number, flags: number): Status;
  begin_pages(packed: number, packedLength: number, table: number, tableLength: number, pageSize: number, byteLength: number): number;
  decompress_pages(pages: number, nPages: number, isStrict: number): Status;
  free_pages(pages: number): void;
  begin_map(length: number): number;
  map_wants(map: number, end: number): Status;
  supply_map(map: number, start: number, length: number): Status;
  mapped_bytes(map: number): number;
  has_index(map: number): number;
  free_map(map: number): void;
  begin_read(map: number, start: number, end: number): number;
  read_wants(read: number, map: number): Status;
  supply_read(read: number, map: number, start: number, length: number): Status;
  free_read(read: number): void;
}

const LEVELS: readonly string[] = ["fast", "high", "sequential"] satisfies Level[];
const CONTENT_CHECKSUM = 4;
const BLOCK_CHECKSUMS = 8;
const INDEX = 16;
/** Input that `decompressSync` gives at once, and most content that it gets, if blocks are not larger: both stay in a cache. */
const SYNC_BYTES = { input: 1024 * 1024, content: 256 * 1024 };

export function levelFlag(level: string): number {
  const flag = LEVELS.indexOf(level);
  if (flag >= 0) return flag;
  throw new PagepressError("INVALID_ARGUMENT", `invalid level: ${level}; give fast, high or sequential`);
}

/** A module, and what it does on the CPU before it returns. */
export class Plain extends ModuleMemory<Exports> implements FrameParts {
  readonly ContentSum: FrameParts["ContentSum"];
  readonly FrameMap: new (byteLength: number) => FrameMap;

  constructor(exports: Exports) {
    super(exports);
    const module = this;
    this.ContentSum = class extends ModuleSum {
      constructor() {
        super(module);
      }
    };
    this.FrameMap = class extends ModuleMap {
      constructor(byteLength: number) {
        super(module, byteLength);
      }
    };
  }

  /** The range that a call gave. */
  range(status: Status): Range | undefined {
    const ends = this.taken(status);
    return ends ? (new Float64Array(ends.buffer) as unknown as Range) : undefined;
  }

  frameHeader(
    blockSize: number,
    contentChecksum: boolean,
    blockChecksums: boolean,
    contentSize: number | undefined,
  ): Bytes {
    const frame = new FrameCompression(this, blockSize, "fast", contentChecksum, blockChecksums, contentSize ?? -1, false);
    try {
      return frame.push(new Uint8Array(), false);
    } finally {
      frame.free();
    }
  }

  compressSync(
    bytes: Uint8Array,
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
    index: boolean,
    maxOutputSize: number,
  ): Bytes {
    const frame = new FrameCompression(this, blockSize, level, contentChecksum, blockChecksums, bytes.length, index);
    try {
      const made = frame.push(bytes, true);
      if (made.length <= maxOutputSize) return made;
    } finally {
      frame.free();
    }
    throw new PagepressError("OUTPUT_LIMIT", `output exceeds the limit of ${maxOutputSize} bytes`);
  }

  decompressSync(bytes: Uint8Array, format: string, maxOutputSize: number): Bytes {
    if (format !== "frame") {
      const isSizePrefixed = format === "size-prefixed" ? 1 : 0;
      return this.bytes(this.exports.decompress_block(this.give(bytes), bytes.length, isSizePrefixed, maxOutputSize));
    }
    const frames = new FrameDecompression(this, maxOutputSize, SYNC_BYTES.content);
    try {
      const content = new Content(maxOutputSize, bytes);
      for (let at = 0; at < bytes.length; at += SYNC_BYTES.input) {
        frames.add(bytes.subarray(at, at + SYNC_BYTES.input));
        for (let part = frames.lent(); part; part = frames.lent()) content.add(part);
      }
      frames.end();
      return content.finish();
    } catch (error) {
      const isNoFrame = error instanceof PagepressError && error.code === "NOT_LZ4" && frames.bytesIn() === 0;
      throw isNoFrame ? this.notLz4(bytes) : error;
    } finally {
      frames.free();
    }
  }

  /** The error for bytes that are no frame, that says what they are. */
  notLz4(bytes: Uint8Array): Error {
    try {
      this.taken(this.exports.not_lz4(this.give(bytes), bytes.length));
    } catch (error) {
      return error as Error;
    }
    return new Error();
  }

  /** The blocks of pages, and their table. */
  compressPages(bytes: Uint8Array, pageSize: number, level: string): { packed: Bytes; table: Uint32Array<ArrayBuffer> } {
    const flag = levelFlag(level);
    const made = this.bytes(this.exports.compress_pages(this.give(bytes), bytes.length, pageSize, flag));
    const at = made.length - 8 * Math.ceil(bytes.length / pageSize);
    return { packed: made.subarray(0, at), table: new Uint32Array(made.buffer, at) };
  }
}

/** An instance of the CPU's module, which imports nothing. */
export async function start(module: WebAssembly.Module): Promise<Plain> {
  const { exports } = await WebAssembly.instantiate(module);
  return new Plain(exports as unknown as Exports);
}

/** A frame that is being compressed. `contentSize` is -1 if it is not known. */
export class FrameCompression extends Held<Plain> {
  constructor(
    module: Plain,
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
    contentSize: number,
    index: boolean,
  ) {
    const flags =
      levelFlag(level) |
      (contentChecksum ? CONTENT_CHECKSUM : 0) |
      (blockChecksums ? BLOCK_CHECKSUMS : 0) |
      (index ? INDEX : 0);
    const at = module.made(module.exports.begin_compression(blockSize, flags, contentSize));
    super(module, at, module.exports.free_compression);
  }

  /** The blocks of `content`, which are whole ones but for the last of the frame. */
  push(content: Uint8Array, isLast: boolean): Bytes {
    const { module } = this;
    return this.use((at) => {
      const start = module.give(content);
      return module.bytes(module.exports.compress(at, start, content.length, isLast ? 1 : 0));
    });
  }

  /** The blocks of `content`, pages of `pages` that are compressed already. */
  pushPages(content: Uint8Array, { packed, table, pageSize }: Pages, isLast: boolean): Bytes {
    const { module } = this;
    const entries = new Uint8Array(table.buffer, table.byteOffset, table.byteLength);
    return this.use((at) => {
      const given = [content, packed, entries].flatMap((bytes) => [module.give(bytes), bytes.length]);
      const [from, n, blocks, nBlocks, words, nWords] = given as [number, number, number, number, number, number];
      const status = module.exports.push_pages(at, from, n, blocks, nBlocks, words, nWords, pageSize, isLast ? 1 : 0);
      return module.bytes(status);
    });
  }
}

/** Pages and their table. */
type Pages = Pick<PackedPages, "packed" | "table" | "pageSize">;

/** Frames that are being decompressed, to at most `groupBytes` of content at once if blocks are not larger. */
export class FrameDecompression extends Held<Plain> {
  constructor(module: Plain, maxOutputSize: number, groupBytes: number) {
    super(module, module.exports.begin_decompression(maxOutputSize, groupBytes), module.exports.free_decompression);
  }

  add(input: Uint8Array): void {
    const { exports } = this.module;
    this.use((at) => {
      const start = exports.add_input(at, input.length) >>> 0;
      new Uint8Array(exports.memory.buffer, start, input.length).set(input);
    });
  }

  /** Some content where it is, good until the module is called again; null if there is none before more input comes. */
  lent(): Uint8Array | null {
    const { module } = this;
    return this.use((at) => module.lent(module.exports.decompress(at)));
  }

  /** A copy of it. */
  advance(): Bytes | null {
    const { module } = this;
    return this.use((at) => module.taken(module.exports.decompress(at)));
  }

  /** Throws what is wrong at the end of the input. */
  end(): void {
    const { module } = this;
    this.use((at) => module.taken(module.exports.end_input(at)));
  }

  /** Bytes of input done. */
  bytesIn(): number {
    return this.use((at) => this.module.exports.input_done(at));
  }
}

/** Pages that are being decompressed. */
export class PageDecompression extends Held<Plain> {
  constructor(module: Plain, packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number) {
    const entries = new Uint8Array(table.buffer, table.byteOffset, table.byteLength);
    const [blocks, words] = [module.give(packed), module.give(entries)];
    const { begin_pages, free_pages } = module.exports;
    super(module, module.made(begin_pages(blocks, packed.length, words, entries.length, pageSize, byteLength)), free_pages);
  }

  /** The next pages, then a number for each: its place in `PAGE_STATUS`; `isStrict` makes any but 0 an error. */
  advance(nPages: number, isStrict: boolean): Bytes {
    const { module } = this;
    return this.use((at) => module.bytes(module.exports.decompress_pages(at, nPages, isStrict ? 1 : 0)));
  }
}

class ModuleSum extends Held<Plain> {
  #value = 0;

  constructor(module: Plain) {
    super(module, module.exports.begin_sum(), module.exports.free_sum);
    this.add(new Uint8Array());
  }

  add(part: Uint8Array): void {
    const { module } = this;
    this.#value = this.use((at) => module.exports.add_to_sum(at, module.give(part), part.length)) >>> 0;
  }

  value(): number {
    return this.#value;
  }
}

class ModuleMap extends Held<Plain> implements FrameMap {
  constructor(module: Plain, byteLength: number) {
    super(module, module.exports.begin_map(byteLength), module.exports.free_map);
  }

  wanted(end: number): Range | undefined {
    const { module } = this;
    return this.use((at) => module.range(module.exports.map_wants(at, end)));
  }

  supply(bytes: Uint8Array): void {
    const { module } = this;
    this.use((at) => module.taken(module.exports.supply_map(at, module.give(bytes), bytes.length)));
  }

  mappedBytes(): number {
    return this.use((at) => this.module.exports.mapped_bytes(at));
  }

  hasIndex(): boolean {
    return this.use((at) => this.module.exports.has_index(at)) !== 0;
  }

  read(start: number, end: number): ContentRead {
    return this.use((map) => new ModuleRead(this.module, this, map, start, end));
  }
}

class ModuleRead extends Held<Plain> implements ContentRead {
  /** Kept from the collector. */
  readonly map: ModuleMap;
  readonly #map: number;

  constructor(module: Plain, map: ModuleMap, mapAt: number, start: number, end: number) {
    super(module, module.exports.begin_read(mapAt, start, end), module.exports.free_read);
    this.map = map;
    this.#map = mapAt;
  }

  wanted(): Range | undefined {
    const { module } = this;
    return this.use((at) => module.range(module.exports.read_wants(at, this.#map)));
  }

  supply(_map: FrameMap, bytes: Uint8Array): Bytes {
    const { module } = this;
    return this.use((at) => module.bytes(module.exports.supply_read(at, this.#map, module.give(bytes), bytes.length)));
  }
}
