import { checkLimit, type OutputTarget } from "../base/arguments.js";
import { type Bytes, wholeBlocks } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import type { Format, FrameOptions, Level } from "../base/types.js";
import type { Share } from "../format/packed-pages.js";
import type * as Cpu from "../wasm/cpu.js";
import { declaredSize, DecodedContent } from "./content.js";
import type { SentDictionary } from "./dictionary-module.js";
import { FORMATS, levelNumber } from "./enums.js";
import { type Glue, Instance } from "./instance.js";
import { OutputBuffer } from "./output-buffer.js";

/** Bytes of input per step of decompression, and bytes of content per step of compression. Both stay in the CPU's caches. */
const INPUT_BYTES = 2 ** 20;
const CONTENT_BYTES = 2 ** 18;
/** Maximum bytes of input that is compressed or decompressed in one call of the module. */
const SHORT_BYTES = 2 ** 16;
/** Maximum declared content of a frame that is decompressed in one call, and maximum bytes of such a frame. More would leave
 * the CPU's caches. */
const SHORT_CONTENT_BYTES = 2 ** 20;

/** Returns true if `bytes` are short enough to be compressed or decompressed in one call of the module. */
export function isShortInput(bytes: Uint8Array): boolean {
  return bytes.length <= SHORT_BYTES;
}

/** Options of a frame that affect its blocks. */
export type BlockOptions = Pick<Required<FrameOptions>, "blockSize" | "level" | "blockChecksums">;

const BLOCKS_ALONE: Required<FrameOptions> = { blockSize: 65536, level: "auto", contentChecksum: false, blockChecksums: false, index: false };

/** The structure of a frame of independent blocks. */
export interface FrameLayout {
  /** Maximum bytes of content of a block. */
  readonly blockSize: number;
  readonly blockChecksums: boolean;
  readonly contentSize: number | undefined;
  readonly contentChecksum: number | undefined;
  /** Offset of the size field of each block, and of the end mark. */
  readonly starts: Uint32Array;
}

/** The functions of the module that a dictionary has as methods. */
export type Calls = Pick<typeof Cpu, "compress" | "decompress" | "compressPages" | "frameLayout">;

/** Returns the options of a frame in the order of the module's arguments. */
export function frameArguments(options: Required<FrameOptions>): [blockSize: number, level: number, boolean, boolean, index: boolean] {
  const { blockSize, contentChecksum, blockChecksums, index } = options;
  return [blockSize, levelNumber(options.level, "sequential"), contentChecksum, blockChecksums, index];
}

/** The module that compresses and decompresses on the CPU. */
export class CpuModule extends Instance<typeof Cpu & Glue> {
  /** The dictionary of all calls, for workers; undefined without one. */
  readonly sent: SentDictionary | undefined;

  /** Id of the dictionary of all calls; 0 without one. */
  get dictionaryId(): number {
    return 0;
  }

  /** Returns the functions for whole contents. */
  protected calls(cpu: typeof Cpu): Calls {
    return cpu;
  }

  /** Begins a frame. `contentSize` is stored in its header. */
  encoder(options: Required<FrameOptions>, contentSize?: number): Cpu.FrameEncoder {
    return this.make((cpu) => new cpu.FrameEncoder(...frameArguments(options), contentSize));
  }

  /** Begins the checksum of content that is added by `addContent`, with the encoder of a frame that is not written. */
  contentSum(): Pick<Cpu.FrameEncoder, "addContent" | "contentChecksum" | "free"> {
    return this.encoder({ ...BLOCKS_ALONE, contentChecksum: true });
  }

  /** Begins to decompress frames, to at most `groupBytes` of content per step unless blocks are larger. */
  decoder(maxOutputSize: number, groupBytes: number): Cpu.FrameDecoder {
    return this.make((cpu) => new cpu.FrameDecoder(maxOutputSize, groupBytes));
  }

  /** Begins to decompress pages. */
  pageDecoder(packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number): Cpu.PageDecoder {
    return this.make((cpu) => new cpu.PageDecoder(packed, table, pageSize, byteLength));
  }

  compressSync(bytes: Uint8Array, format: Format, options: Required<FrameOptions>, maxOutputSize: number): Bytes {
    if (format !== "frame" || isShortInput(bytes)) {
      const [blockSize, level, ...flags] = frameArguments(options);
      const made = this.#take(bytes, (calls) => calls.compress(bytes, FORMATS.indexOf(format), level, blockSize, ...flags));
      checkLimit(made.length, maxOutputSize);
      return made;
    }
    const output = new OutputBuffer(maxOutputSize, bytes.length);
    try {
      for (const _ of this.compressInSteps(bytes, options, output));
      return output.finish();
    } finally {
      output.free();
    }
  }

  /** Compresses `bytes` to `output`, and yields the number of bytes of input processed so far after each step. */
  *compressInSteps(bytes: Uint8Array, options: Required<FrameOptions>, output: OutputBuffer): Generator<number, void, undefined> {
    const { length } = bytes;
    const step = wholeBlocks(CONTENT_BYTES, options.blockSize);
    const frame = this.encoder(options, length);
    try {
      for (let at = 0; at === 0 || at < length; at += step) {
        output.add(pushTo(frame, bytes.subarray(at, at + step), at + step >= length, output.writable()));
        yield Math.min(at + step, length);
      }
    } finally {
      frame.free();
    }
  }

  decompressSync(bytes: Uint8Array, format: Format, target: OutputTarget): Bytes {
    const made = this.decompressAtOnce(bytes, format, target);
    if (made) return made;
    const content = new DecodedContent(target, bytes);
    for (const _ of this.decompressInSteps(bytes, content, target.limit));
    return content.finish();
  }

  /** Decompresses a frame that is short or declares little content, or a format without frames, in one call of the module;
   * returns undefined for other frames. */
  decompressAtOnce(bytes: Uint8Array, format: Format, { limit, into }: OutputTarget): Bytes | undefined {
    const size = declaredSize(limit, bytes);
    const isShort = size <= SHORT_CONTENT_BYTES && bytes.length <= (size > 0 ? SHORT_CONTENT_BYTES : SHORT_BYTES);
    if (format === "frame" && !isShort) return undefined;
    return this.#decompress(bytes, format, limit, into);
  }

  #decompress(bytes: Uint8Array, format: Format, limit: number, into?: Bytes): Bytes | undefined {
    return this.#take(bytes, (calls) => {
      const made = calls.decompress(bytes, FORMATS.indexOf(format), limit, into);
      if (made instanceof Error) throw made;
      return made;
    });
  }

  /** Calls `work`, which passes `bytes` to the module. */
  #take<T>(bytes: Uint8Array, work: (calls: Calls) => T): T {
    return this.run((cpu) => {
      if (!isShortInput(bytes)) cpu.makeRoom(bytes.length);
      return work(this.calls(cpu));
    });
  }

  /** Decompresses `bytes` to `content`, and yields the number of bytes of input processed so far after each step. */
  *decompressInSteps(bytes: Uint8Array, content: DecodedContent, maxOutputSize: number): Generator<number, void, undefined> {
    const frames = this.decoder(maxOutputSize, CONTENT_BYTES);
    try {
      for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
        frames.add(bytes.subarray(at, at + INPUT_BYTES));
        for (let length = frames.advance(); length > 0; length = frames.advance()) {
          content.fill(length, (part) => frames.copyInto(part));
          yield frames.position;
        }
      }
      frames.end();
    } catch (error) {
      const isNoFrame = error instanceof PagepressError && error.code === "NOT_LZ4" && frames.position === 0;
      // This call throws the same error, with the name of the format that the bytes seem to have.
      if (isNoFrame) this.#decompress(bytes, "frame", 0);
      throw error;
    } finally {
      frames.free();
    }
  }

  /** Compresses `bytes` to blocks as in a frame, each with its size and, if enabled, its checksum. They are written to the
   * start of `into` if they fit. */
  compressBlocks(bytes: Uint8Array, options: BlockOptions, into?: Bytes): Bytes {
    return this.#use(this.encoder({ ...BLOCKS_ALONE, ...options }), (frame) => {
      frame.take();
      return pushTo(frame, bytes, false, into);
    });
  }

  /** Returns the header of a frame. */
  frameHeader(options: Pick<FrameOptions, "blockSize" | "contentChecksum" | "blockChecksums">, contentSize?: number): Bytes {
    return this.#use(this.encoder({ ...BLOCKS_ALONE, ...options }, contentSize), (frame) => frame.take());
  }

  /** Returns the layout of `bytes`; undefined unless they are one whole frame of independent blocks. */
  frameLayout(bytes: Uint8Array): FrameLayout | undefined {
    const words = new Uint32Array(this.run((cpu) => this.calls(cpu).frameLayout(bytes)).buffer);
    if (words.length === 0) return undefined;
    const [blockSize = 0, flags = 0, contentSize, contentChecksum] = words;
    return {
      blockSize,
      blockChecksums: (flags & 1) !== 0,
      contentSize: flags & 2 ? contentSize : undefined,
      contentChecksum: flags & 4 ? contentChecksum : undefined,
      starts: words.subarray(4),
    };
  }

  /** Compresses pages, and returns their blocks and their table. */
  compressPages(bytes: Uint8Array, pageSize: number, level: Level): Share {
    const made = this.run((cpu) => this.calls(cpu).compressPages(bytes, pageSize, levelNumber(level, "sequential")));
    const at = made.length - 8 * Math.ceil(bytes.length / pageSize);
    return { packed: made.subarray(0, at), table: new Uint32Array(made.buffer, at) };
  }

  #use<T extends { free(): void }, R>(object: T, work: (object: T) => R): R {
    try {
      return work(object);
    } finally {
      object.free();
    }
  }
}

/** Compresses `content`, a whole number of blocks unless it is the last, and returns the bytes that have been added to the
 * frame. They are written to the start of `into` if they fit. */
export function pushTo(frame: Cpu.FrameEncoder, content: Uint8Array, isLast: boolean, into?: Bytes): Bytes {
  const length = frame.push(content, isLast);
  if (!into || length > into.length) return frame.take();
  const part = into.subarray(0, length);
  frame.takeInto(part);
  return part;
}
