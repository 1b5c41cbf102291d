// Reads a file sequentially through a window of 1 MiB.
import { FrameError } from "./error";

const WINDOW_BYTES = 1 << 20;

/** A sequential reader with a position, `at`. */
export class Window {
  readonly end: number;
  /** Position of the next byte. */
  at = 0;
  #blob: Blob;
  #bytes: Uint8Array = new Uint8Array();
  #start = 0;

  constructor(blob: Blob) {
    this.#blob = blob;
    this.end = blob.size;
  }

  /** Reads the next `length` bytes. */
  async take(length: number): Promise<Uint8Array> {
    const bytes = await this.range(this.at, this.at + length);
    this.at += length;
    return bytes;
  }

  /** Reads the next four bytes as a little-endian number. */
  async word(): Promise<number> {
    const bytes = await this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  }

  skip(length: number): void {
    if (this.at + length > this.end) throw this.#cutOff();
    this.at += length;
  }

  /** Returns the bytes from `start` to `end` without moving the position. */
  async range(start: number, end: number): Promise<Uint8Array> {
    if (end > this.end) throw this.#cutOff();
    if (start < this.#start || end > this.#start + this.#bytes.length) {
      const until = Math.max(end, start + WINDOW_BYTES);
      this.#bytes = new Uint8Array(await this.#blob.slice(start, until).arrayBuffer());
      this.#start = start;
    }
    return this.#bytes.subarray(start - this.#start, end - this.#start);
  }

  #cutOff(): FrameError {
    return new FrameError("TRUNCATED_FRAME", `the file ends at byte ${this.end}, within a frame`);
  }
}
