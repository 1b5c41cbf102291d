import { Content } from "./content.js";
import { wholeBlocks } from "./content-part.js";
import { Draft } from "./draft.js";
import { PagepressError } from "./errors.js";
import type { FrameParts } from "./codec.js";
import { type Bytes, Held, type Instance, type MemoryExports, ModuleMemory, outOfMemory, type Status } from "./module-memory.js";
import { entryWord } from "./packed-pages.js";
import type { FrameOptions, Level } from "./types.js";

/** What a module exports that needs no GPU. Objects and places in memory are numbers; `src/web/plain` says what each
 * function takes and gives. */
export interface Exports extends MemoryExports {
  begin_compression(blockSize: number, flags: number, contentSize: number): number;
  compress(frame: number, start: number, length: number, isLast: number): Status;
  add_content(frame: number, start: number, length: number): void;
  note_blocks(frame: number, contentLength: number, sizes: number, sizesLength: number): void;
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
}

/** Levels by their numbers in a module. */
const LEVELS = ["fast", "high", "sequential"] satisfies Level[];
const CONTENT_CHECKSUM = 4;
const BLOCK_CHECKSUMS = 8;
const INDEX = 16;
/** Input that is decompressed at once, and most content on either way, if blocks are not larger: both stay in a cache. */
const SYNC_BYTES = { input: 1024 * 1024, content: 256 * 1024 };

/** The number of `level`; on the CPU that is the quickest for `"auto"`. */
export function levelFlag(level: string): number {
  const flag = (LEVELS as string[]).indexOf(level === "auto" ? "sequential" : level);
  if (flag >= 0) return flag;
  throw new PagepressError("INVALID_ARGUMENT", `invalid level: ${level}; give auto, fast, high or sequential`);
}

/** A module, and what it does on the CPU before it returns. */
export class Plain extends ModuleMemory<Exports> implements FrameParts {
  readonly ContentSum: FrameParts["ContentSum"];

  constructor(first: Instance, start: () => Instance) {
    super(first, start);
    const module = this;
    this.ContentSum = class extends ModuleSum {
      constructor() {
        super(module);
      }
    };
  }

  frameHeader(
    blockSize: number,
    contentChecksum: boolean,
    blockChecksums: boolean,
    contentSize: number | undefined,
  ): Bytes {
    const options = { blockSize, level: "fast", contentChecksum, blockChecksums, index: false } as const;
    return this.#compressed(options, contentSize ?? -1, (frame) => frame.push(new Uint8Array(), false));
  }

  compressSync(bytes: Uint8Array, options: Required<FrameOptions>, maxOutputSize: number): Bytes {
    const step = wholeBlocks(SYNC_BYTES.content, options.blockSize);
    const draft = new Draft(maxOutputSize, bytes.length);
    return this.#compressed(options, bytes.length, (frame) => {
      try {
        for (let at = 0; at === 0 || at < bytes.length; at += step) {
          draft.add(frame.push(bytes.subarray(at, at + step), at + step >= bytes.length, draft.room()));
        }
        return draft.finish();
      } finally {
        draft.free();
      }
    });
  }

  /** The blocks of `bytes` as they are in a frame, each after its size and, if it has one, before its checksum. They are put
   * into `room` if they fit. */
  compressBlocks(bytes: Uint8Array, { blockSize, level, blockChecksums }: BlockOptions, room?: Bytes): Bytes {
    const options = { blockSize, level, contentChecksum: false, blockChecksums, index: false };
    return this.#compressed(options, -1, (frame) => {
      // The header comes with the first blocks.
      frame.push(new Uint8Array(), false);
      return frame.push(bytes, false, room);
    });
  }

  #compressed(options: Required<FrameOptions>, contentSize: number, work: (frame: FrameCompression) => Bytes): Bytes {
    const frame = new FrameCompression(this, options, contentSize);
    try {
      return work(frame);
    } finally {
      frame.free();
    }
  }

  /** The checksum of `bytes`. */
  checksum(bytes: Uint8Array): number {
    const { begin_sum, add_to_sum, free_sum } = this.exports;
    const given = this.give(bytes);
    const sum = begin_sum();
    const value = add_to_sum(sum, ...given) >>> 0;
    free_sum(sum);
    return value;
  }

  decompressSync(bytes: Uint8Array, format: string, maxOutputSize: number): Bytes {
    if (format !== "frame") {
      const isSizePrefixed = format === "size-prefixed" ? 1 : 0;
      return this.bytes(this.exports.decompress_block(...this.give(bytes), isSizePrefixed, maxOutputSize));
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
      this.taken(this.exports.not_lz4(...this.give(bytes)));
    } catch (error) {
      return error as Error;
    }
    return new Error();
  }

  /** The blocks of pages, and their table. */
  compressPages(bytes: Uint8Array, pageSize: number, level: string): { packed: Bytes; table: Uint32Array<ArrayBuffer> } {
    const flag = levelFlag(level);
    const made = this.bytes(this.exports.compress_pages(...this.give(bytes), pageSize, flag));
    const at = made.length - 8 * Math.ceil(bytes.length / pageSize);
    return { packed: made.subarray(0, at), table: new Uint32Array(made.buffer, at) };
  }

  /** The `byteLength` bytes of one page that is packed as `block`. */
  decompressPage(kind: number, block: Uint8Array, byteLength: number, pageSize: number): Bytes {
    const table = Uint32Array.of(0, entryWord(kind, block.length));
    const pages = new PageDecompression(this, block, table, pageSize, byteLength);
    try {
      return pages.advance(1, true).subarray(0, byteLength);
    } finally {
      pages.free();
    }
  }
}

/** An instance of the CPU's module, which imports nothing. */
export async function start(module: WebAssembly.Module): Promise<Plain> {
  return new Plain(await WebAssembly.instantiate(module), () => new WebAssembly.Instance(module));
}

/** What the blocks of a frame depend on. */
export type BlockOptions = Pick<Required<FrameOptions>, "blockSize" | "level" | "blockChecksums">;

/** A frame that is being compressed. `contentSize` is -1 if it is not known. */
export class FrameCompression extends Held<Plain> {
  constructor(module: Plain, options: Required<FrameOptions>, contentSize: number) {
    const { blockSize, level, contentChecksum, blockChecksums, index } = options;
    const flags =
      levelFlag(level) |
      (contentChecksum ? CONTENT_CHECKSUM : 0) |
      (blockChecksums ? BLOCK_CHECKSUMS : 0) |
      (index ? INDEX : 0);
    const at = module.made(module.exports.begin_compression(blockSize, flags, contentSize));
    super(module, at, module.exports.free_compression);
  }

  /** The blocks of `content`, which are whole ones but for the last of the frame; after the header if these are the
   * first, before the end if they are the last. They are put into `room` if they fit. */
  push(content: Uint8Array, isLast: boolean, room?: Bytes): Bytes {
    const { module } = this;
    return this.use((at) => module.bytes(module.exports.compress(at, ...module.give(content), isLast ? 1 : 0), room));
  }

  /** Adds content whose blocks are made elsewhere to the checksum, if there is to be one. */
  addContent(content: Uint8Array): void {
    const { module } = this;
    this.use((at) => module.exports.add_content(at, ...module.give(content)));
  }

  /** Counts such blocks of `nBytes` of content; `sizes` are the words before them, which only an index needs. */
  noteBlocks(nBytes: number, sizes: Uint32Array): void {
    const { module } = this;
    const bytes = new Uint8Array(sizes.buffer, sizes.byteOffset, sizes.byteLength);
    this.use((at) => module.exports.note_blocks(at, nBytes, ...module.give(bytes)));
  }
}

/** Frames that are being decompressed, to at most `groupBytes` of content at once if blocks are not larger. */
export class FrameDecompression extends Held<Plain> {
  constructor(module: Plain, maxOutputSize: number, groupBytes: number) {
    super(module, module.exports.begin_decompression(maxOutputSize, groupBytes), module.exports.free_decompression);
  }

  add(input: Uint8Array): void {
    const { exports } = this.module;
    this.use((at) => {
      const { length } = input;
      const start = exports.add_input(at, length) >>> 0;
      if (start === 0) throw outOfMemory(length);
      new Uint8Array(exports.memory.buffer, start, length).set(input);
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
    const [blocks, words] = module.giveBoth(packed, entries);
    const { begin_pages, free_pages } = module.exports;
    super(module, module.made(begin_pages(...blocks, ...words, pageSize, byteLength)), free_pages);
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
    this.#value = this.use((at) => module.exports.add_to_sum(at, ...module.give(part))) >>> 0;
  }

  value(): number {
    return this.#value;
  }
}
