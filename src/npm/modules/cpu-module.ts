import type { Room } from "../base/arguments.js";
import { type Bytes, wholeBlocks } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import type { Format, FrameOptions, Level } from "../base/types.js";
import type { Share } from "../format/packed-pages.js";
import type * as Cpu from "../wasm/cpu.js";
import { checkLimit, Content, promisedSize } from "./content.js";
import { Draft } from "./draft.js";
import { FORMATS, levelNumber } from "./enums.js";
import { type Glue, Held, Instance } from "./instance.js";

/** Input of a frame that is decompressed at a time, and content of one that is compressed: both stay in a cache. */
const INPUT_BYTES = 2 ** 20;
const CONTENT_BYTES = 2 ** 18;
/** Less than this is compressed and decompressed in one call of the module. */
const SHORT_BYTES = 2 ** 16;
/** What a short frame may hold to be decompressed in one call. */
const SHORT_CONTENT_BYTES = 2 ** 20;

/** What the blocks of a frame depend on. */
export type BlockOptions = Pick<Required<FrameOptions>, "blockSize" | "level" | "blockChecksums">;

type CpuGlue = typeof Cpu & Glue;

/** The module that compresses and decompresses on the CPU. */
export class CpuModule extends Instance<CpuGlue> {
  compressSync(bytes: Uint8Array, format: Format, options: Required<FrameOptions>, maxOutputSize: number): Bytes {
    if (format !== "frame" || bytes.length <= SHORT_BYTES) {
      const { blockSize, contentChecksum, blockChecksums, index } = options;
      const [number, level] = [FORMATS.indexOf(format), levelNumber(options.level, "sequential")];
      const made = this.run((cpu) => cpu.compress(bytes, number, level, blockSize, contentChecksum, blockChecksums, index));
      checkLimit(made.length, maxOutputSize);
      return made;
    }
    const draft = new Draft(maxOutputSize, bytes.length);
    try {
      for (const _ of this.compressInSteps(bytes, options, draft));
      return draft.finish();
    } finally {
      draft.free();
    }
  }

  /** Compresses `bytes` to `draft`, and pauses after each step to tell how much is done. */
  *compressInSteps(bytes: Uint8Array, options: Required<FrameOptions>, draft: Draft): Generator<number, void, undefined> {
    const { length } = bytes;
    const step = wholeBlocks(CONTENT_BYTES, options.blockSize);
    const frame = new FrameEncoder(this, options, length);
    try {
      for (let at = 0; at === 0 || at < length; at += step) {
        draft.add(frame.push(bytes.subarray(at, at + step), at + step >= length, draft.room()));
        yield Math.min(at + step, length);
      }
    } finally {
      frame.free();
    }
  }

  decompressSync(bytes: Uint8Array, format: Format, room: Room): Bytes {
    const { limit, into } = room;
    const isShort = bytes.length <= SHORT_BYTES && promisedSize(limit, bytes) <= SHORT_CONTENT_BYTES;
    if (isShort || format !== "frame") {
      const made = this.run((cpu) => cpu.decompress(bytes, FORMATS.indexOf(format), limit, into));
      if (made) return made as Bytes;
    }
    const content = new Content(room, bytes);
    for (const _ of this.decompressInSteps(bytes, content, limit));
    return content.finish();
  }

  /** Decompresses `bytes` to `content`, and pauses after each step to tell how much of them is done. */
  *decompressInSteps(bytes: Uint8Array, content: Content, maxOutputSize: number): Generator<number, void, undefined> {
    const frames = new FrameDecoder(this, maxOutputSize, CONTENT_BYTES);
    try {
      for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
        frames.add(bytes.subarray(at, at + INPUT_BYTES));
        for (let length = frames.advance(); length > 0; length = frames.advance()) {
          content.fill(length, (room) => frames.copyInto(room));
          yield frames.position();
        }
      }
      frames.end();
    } catch (error) {
      const isNoFrame = error instanceof PagepressError && error.code === "NOT_LZ4" && frames.position() === 0;
      if (isNoFrame) this.run((cpu) => cpu.decompress(bytes, FORMATS.indexOf("frame"), 0, undefined));
      throw error;
    } finally {
      frames.free();
    }
  }

  /** The blocks of `bytes` as they are in a frame, each after its size and, if it has one, before its checksum. They are put
   * into `room` if they fit. */
  compressBlocks(bytes: Uint8Array, { blockSize, level, blockChecksums }: BlockOptions, room?: Bytes): Bytes {
    const options = { blockSize, level, contentChecksum: false, blockChecksums, index: false };
    const frame = new FrameEncoder(this, options, undefined);
    try {
      frame.header();
      return frame.push(bytes, false, room);
    } finally {
      frame.free();
    }
  }

  /** The header of a frame. */
  frameHeader(options: Pick<FrameOptions, "blockSize" | "contentChecksum" | "blockChecksums">, contentSize?: number): Bytes {
    const all = { blockSize: 65536, level: "fast", contentChecksum: false, blockChecksums: false, index: false } as const;
    const frame = new FrameEncoder(this, { ...all, ...options }, contentSize);
    try {
      return frame.header();
    } finally {
      frame.free();
    }
  }

  /** The blocks of pages, and their table. */
  compressPages(bytes: Uint8Array, pageSize: number, level: Level): Share {
    const made = this.run((cpu) => cpu.compressPages(bytes, pageSize, levelNumber(level, "sequential")));
    const at = made.length - 8 * Math.ceil(bytes.length / pageSize);
    return { packed: made.subarray(0, at), table: new Uint32Array(made.buffer, at) };
  }
}

/** A frame that is being written. */
export class FrameEncoder extends Held<CpuGlue, Cpu.FrameEncoder> {
  constructor(module: CpuModule, options: Required<FrameOptions>, contentSize: number | undefined) {
    const { blockSize, contentChecksum, blockChecksums, index } = options;
    const level = levelNumber(options.level, "sequential");
    super(module, (cpu) => new cpu.FrameEncoder(blockSize, level, contentChecksum, blockChecksums, index, contentSize));
  }

  /** The header, unless it was taken. */
  header(): Bytes {
    return this.use((frame) => frame.take());
  }

  /** What there is of the frame behind `content`, which is compressed to whole blocks unless it is the last. It is put into
   * `room` if it fits. */
  push(content: Uint8Array, isLast: boolean, room?: Bytes): Bytes {
    return this.use((frame) => {
      const length = frame.push(content, isLast);
      if (!room || length > room.length) return frame.take();
      const part = room.subarray(0, length);
      frame.takeInto(part);
      return part;
    });
  }

  /** Adds content whose blocks are compressed elsewhere to the checksum, if there is to be one. */
  addContent(content: Uint8Array): void {
    this.use((frame) => frame.addContent(content));
  }

  /** Counts such blocks of `nBytes` of content; only an index needs them. */
  noteBlocks(nBytes: number, blocks: Uint8Array): void {
    this.use((frame) => frame.noteBlocks(nBytes, blocks));
  }
}

/** Frames that are being decompressed, to at most `groupBytes` of content at once if blocks are not larger. */
export class FrameDecoder extends Held<CpuGlue, Cpu.FrameDecoder> {
  constructor(module: CpuModule, maxOutputSize: number, groupBytes: number) {
    super(module, (cpu) => new cpu.FrameDecoder(maxOutputSize, groupBytes));
  }

  add(input: Uint8Array): void {
    this.use((frames) => frames.add(input));
  }

  /** Decodes some content and gives its length; 0 if more input is needed. */
  advance(): number {
    return this.use((frames) => frames.advance());
  }

  /** Copies that content to an array of just its length. */
  copyInto(room: Uint8Array): void {
    this.use((frames) => frames.copyInto(room));
  }

  /** Throws what is wrong at the end of the input. */
  end(): void {
    this.use((frames) => frames.end());
  }

  /** Bytes of input done. */
  position(): number {
    return this.use((frames) => frames.position);
  }
}

/** Pages that are being decompressed. */
export class PageDecoder extends Held<CpuGlue, Cpu.PageDecoder> {
  constructor(module: CpuModule, packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number) {
    super(module, (cpu) => new cpu.PageDecoder(packed, table, pageSize, byteLength));
  }

  /** The next pages, then a number for each: its place in `PAGE_STATUS`; `isStrict` makes any but 0 an error. */
  advance(nPages: number, isStrict: boolean): Bytes {
    return this.use((pages) => pages.advance(nPages, isStrict));
  }
}

/** The checksum of a content that comes in parts: that of a frame that is not written. */
export class ContentSum extends Held<CpuGlue, Cpu.FrameEncoder> {
  constructor(module: CpuModule) {
    super(module, (cpu) => new cpu.FrameEncoder(65536, levelNumber("sequential", "sequential"), true, false, false, undefined));
  }

  add(part: Uint8Array): void {
    this.use((frame) => frame.addContent(part));
  }

  value(): number {
    return this.use((frame) => frame.contentChecksum);
  }
}
