import { type Bytes, touch, joined } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import { contentSizeOf } from "../format/frame-header.js";

/** A byte of a block stands for so many bytes of content at most. */
const LARGEST_EXPANSION = 255;

/** Content that comes in parts. If its size is known, they are copied to where they stay. */
export class Content {
  readonly #limit: number;
  /** What the header promises, filled from the start. */
  readonly #whole: Bytes;
  /** What comes after that, or all if nothing was promised. */
  readonly #rest: Bytes[] = [];
  length = 0;

  /** Content of at most `limit` bytes, of the frames in `packed`, whose header may be wrong: what it says must be possible. */
  constructor(limit: number, packed: Uint8Array) {
    this.#limit = limit;
    const size = contentSizeOf(packed);
    this.#whole = allocated(size <= Math.min(limit, packed.length * LARGEST_EXPANSION) ? size : 0);
  }

  /** Bytes that the header promises, if that can be; else 0. */
  get size(): number {
    return this.#whole.length;
  }

  /** Takes the next part; `isOwn` if nobody else changes it later. */
  add(part: Uint8Array, isOwn = false): void {
    const isRest = this.length + part.length > this.#whole.length;
    if (!isOwn || !isRest) return this.fill(part.length, (room) => room.set(part));
    this.#count(part.length);
    this.#rest.push(part as Bytes);
  }

  /** Has `write` fill room for the next `length` bytes. */
  fill(length: number, write: (room: Uint8Array) => void): void {
    const at = this.length;
    this.#count(length);
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
