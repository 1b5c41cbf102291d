import { type Bytes, join, joined, totalOf } from "../base/bytes.js";
import type { FrameOptions } from "../base/types.js";
import { type CpuModule, pushTo } from "../modules/cpu-module.js";
import type * as Cpu from "../wasm/cpu.js";

/** Bytes of content that are copied to the module at a time, to limit its memory. */
const STEP_BYTES = 2 ** 20;

/** Bytes of the end of a frame without an index: end mark and content checksum. */
export const END_BYTES = 8;

/** Assembles a frame from blocks that workers or a GPU compress. Content and blocks are added in order; content may be added
 * earlier than its blocks, so that its checksum is computed meanwhile. Content is copied to the module only for the
 * checksum. */
export class FrameWriter {
  readonly #frame: Cpu.FrameEncoder;
  readonly #options: Required<FrameOptions>;
  /** Parts of the frame since the last `take`; the first begins with the header. */
  #parts: Bytes[] = [];
  /** Bytes of content whose blocks have been appended, and bytes of the frame so far. */
  bytesIn = 0;
  bytesOut = 0;

  /** `contentSize` is -1 if it is unknown. */
  constructor(cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#frame = cpu.encoder(options, contentSize < 0 ? undefined : contentSize);
    this.#options = options;
    this.#append(this.#frame.take());
  }

  /** Adds content to the checksum, if the frame has one. */
  addContent(content: Uint8Array): void {
    if (!this.#options.contentChecksum) return;
    for (let at = 0; at < content.length; at += STEP_BYTES) {
      this.#frame.addContent(content.subarray(at, at + STEP_BYTES));
    }
  }

  /** Appends the blocks of the next `nBytes` of content, each preceded by its size and, if enabled, followed by its
   * checksum. */
  put(blocks: Bytes, nBytes: number): void {
    this.#frame.noteBlocks(nBytes, this.#options.index ? blocks : new Uint8Array());
    this.bytesIn += nBytes;
    this.#append(blocks);
  }

  /** The bytes of the frame since the last `take`: its header, before the first blocks. */
  get head(): number {
    return totalOf(this.#parts);
  }

  /** Ends the frame, all of whose content is in the blocks of `array`: before them it has `head` bytes of room, behind them
   * `END_BYTES`. Returns the frame, in `array` unless it has an index. Throws as `end`. */
  endIn(array: Bytes, nBytes: number): Bytes {
    const blocks = array.subarray(this.head, array.length - END_BYTES);
    const [head, { length }] = [joined(this.#parts.splice(0)), blocks];
    this.put(blocks, nBytes);
    this.#parts.length = 0;
    array.set(head);
    this.end();
    const end = joined(this.#parts.splice(0));
    if (end.length > END_BYTES) return join([head, blocks, end]);
    array.set(end, head.length + length);
    return array.subarray(0, head.length + length + end.length);
  }

  /** Ends the frame; throws `CONTENT_SIZE_MISMATCH` if the length of the content differs from that in the header. */
  end(): void {
    this.#append(pushTo(this.#frame, new Uint8Array(), true));
  }

  /** Returns the bytes since the last call. The header is returned with the first blocks or the end. */
  take(): Bytes {
    const isEmpty = this.#parts.length === 1 && this.#parts[0]?.length === this.bytesOut;
    return isEmpty ? new Uint8Array() : joined(this.#parts.splice(0));
  }

  free(): void {
    this.#frame.free();
  }

  #append(part: Bytes): void {
    this.#parts.push(part);
    this.bytesOut += part.length;
  }
}
