import { type Bytes, joined } from "../base/bytes.js";
import type { FrameOptions } from "../base/types.js";
import { type CpuModule, FrameEncoder } from "../modules/cpu-module.js";

/** Bytes of content that the module takes at a time, so that its memory stays small. */
const STEP_BYTES = 2 ** 20;

/** Puts a frame together of blocks that are made elsewhere, by workers or a GPU. Content and blocks are given in order;
 * content may be ahead, so that its checksum is made meanwhile. Only content that is summed goes through the module. */
export class FrameWriter {
  readonly #frame: FrameEncoder;
  readonly #options: Required<FrameOptions>;
  /** Parts of the frame that nobody took yet; the first begins with the header. */
  #made: Bytes[] = [];
  /** Bytes of content whose blocks are there, and of the frame so far. */
  bytesIn = 0;
  bytesOut = 0;

  /** `contentSize` is -1 if it is not known. */
  constructor(cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#frame = new FrameEncoder(cpu, options, contentSize < 0 ? undefined : contentSize);
    this.#options = options;
    this.#add(this.#frame.header());
  }

  /** Adds content to the checksum, if there is to be one. */
  add(content: Uint8Array): void {
    if (!this.#options.contentChecksum) return;
    for (let at = 0; at < content.length; at += STEP_BYTES) {
      this.#frame.addContent(content.subarray(at, at + STEP_BYTES));
    }
  }

  /** Takes the blocks of the next `nBytes` of content, each after its size and before its checksum, if it is to have one. */
  put(blocks: Bytes, nBytes: number): void {
    this.#frame.noteBlocks(nBytes, this.#options.index ? blocks : new Uint8Array());
    this.bytesIn += nBytes;
    this.#add(blocks);
  }

  /** Ends the frame; throws `CONTENT_SIZE_MISMATCH` if there was more or less content than was said. */
  end(): void {
    this.#add(this.#frame.push(new Uint8Array(), true));
  }

  /** What came since this was called last; nothing before there are blocks or the end. */
  take(): Bytes {
    const isEmpty = this.#made.length === 1 && this.#made[0]?.length === this.bytesOut;
    return isEmpty ? new Uint8Array() : joined(this.#made.splice(0));
  }

  free(): void {
    this.#frame.free();
  }

  #add(part: Bytes): void {
    this.#made.push(part);
    this.bytesOut += part.length;
  }
}
