import type { Room } from "../base/arguments.js";
import { type Bytes, touch, joined } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import { contentSizeOf } from "../format/frame-header.js";

/** A byte of a block stands for so many bytes of content at most. */
const LARGEST_EXPANSION = 255;

/** Bytes that the header of `packed` promises, if that can be; else 0. */
export function promisedSize(limit: number, packed: Uint8Array): number {
  const size = contentSizeOf(packed);
  return size <= Math.min(limit, packed.length * LARGEST_EXPANSION) ? size : 0;
}

/** Content that comes in parts. If its size is known, they are copied to where they stay. */
export class Content {
  readonly #limit: number;
  /** The array that the caller gave, or what the header promises; filled from the start. */
  readonly #whole: Bytes;
  readonly #isGiven: boolean;
  /** What comes after that, or all if nothing was promised. */
  readonly #rest: Bytes[] = [];
  length = 0;

  /** Content of the frames in `packed`. */
  constructor({ limit, into }: Room, packed: Uint8Array) {
    this.#limit = limit;
    this.#isGiven = into !== undefined;
    this.#whole = into ?? allocated(promisedSize(limit, packed));
  }

  /** Takes the next part; `isOwn` if nobody else changes it later. */
  add(part: Uint8Array, isOwn = false): void {
    const isRest = this.length + part.length > this.#whole.length;
    if (this.#isGiven || !isOwn || !isRest) return this.fill(part.length, (room) => room.set(part));
    this.#count(part.length);
    this.#rest.push(part as Bytes);
  }

  /** Has `write` fill room for the next `length` bytes. */
  fill(length: number, write: (room: Uint8Array) => void): void {
    const at = this.length;
    this.#count(length);
    if (this.#isGiven) {
      // What is missing at its end is told by `write`.
      return write(this.#whole.subarray(at, this.length));
    }
    if (this.length > this.#whole.length) {
      const part = new Uint8Array(length);
      write(part);
      this.#rest.push(part);
      return;
    }
    touch(this.#whole, at, this.length);
    write(this.#whole.subarray(at, this.length));
  }

  #count(length: number): void {
    this.length += length;
    checkLimit(this.length, this.#limit);
  }

  /** All parts in one array. */
  finish(): Bytes {
    if (this.#isGiven) return this.#whole.subarray(0, this.length);
    const inPlace = this.#rest.reduce((left, { length }) => left - length, this.length);
    const start = inPlace === this.#whole.length ? this.#whole : this.#whole.slice(0, inPlace);
    return joined(inPlace > 0 ? [start, ...this.#rest] : this.#rest);
  }
}

/** Throws `OUTPUT_LIMIT` if `length` is more than `limit` bytes of output. */
export function checkLimit(length: number, limit: number): void {
  if (length > limit) throw new PagepressError("OUTPUT_LIMIT", `output exceeds the limit of ${limit} bytes`);
}

/** Zeros, none if there is no memory for them. */
function allocated(length: number): Bytes {
  try {
    return new Uint8Array(length);
  } catch {
    return new Uint8Array();
  }
}
