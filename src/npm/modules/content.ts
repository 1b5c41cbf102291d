import { checkLimit, type OutputTarget } from "../base/arguments.js";
import { type Bytes, touch, joined } from "../base/bytes.js";
import { contentSizeOf } from "../format/frame-header.js";

/** Maximum number of bytes of content per byte of a block. */
const LARGEST_EXPANSION = 255;

/** Returns the content size that the header of `packed` declares; 0 if it is missing, impossible or above `limit`. */
export function declaredSize(limit: number, packed: Uint8Array): number {
  const size = contentSizeOf(packed);
  return size <= Math.min(limit, packed.length * LARGEST_EXPANSION) ? size : 0;
}

/** Collects decompressed content. If its size is known, parts are copied to their final position. */
export class DecodedContent {
  readonly #limit: number;
  /** The caller's array, or an array of the declared size. */
  readonly #whole: Bytes;
  readonly #isGiven: boolean;
  /** Parts after `#whole`: all parts if no size is declared. */
  readonly #rest: Bytes[] = [];
  length = 0;

  /** Prepares for the content of the frames in `packed`. */
  constructor({ limit, into }: OutputTarget, packed: Uint8Array) {
    this.#limit = limit;
    this.#isGiven = into !== undefined;
    this.#whole = into ?? allocated(declaredSize(limit, packed));
  }

  /** Appends a part. The caller must not use its memory afterwards. */
  add(part: Bytes): void {
    if (this.#isGiven || this.length + part.length <= this.#whole.length) return this.fill(part.length, (to) => to.set(part));
    this.#count(part.length);
    this.#rest.push(part);
  }

  /** Calls `write` with the memory for the next `length` bytes. */
  fill(length: number, write: (to: Uint8Array) => void): void {
    const at = this.length;
    this.#count(length);
    if (!this.#isGiven && this.length > this.#whole.length) {
      const part = new Uint8Array(length);
      this.#rest.push(part);
      return write(part);
    }
    if (!this.#isGiven) touch(this.#whole, at, this.length);
    // The caller's array may be too short, which `write` reports.
    write(this.#whole.subarray(at, this.length));
  }

  #count(length: number): void {
    this.length += length;
    checkLimit(this.length, this.#limit);
  }

  /** Returns all parts in one array. */
  finish(): Bytes {
    if (this.#isGiven) return this.#whole.subarray(0, this.length);
    const inPlace = this.#rest.reduce((left, { length }) => left - length, this.length);
    const start = inPlace === this.#whole.length ? this.#whole : this.#whole.slice(0, inPlace);
    return joined(inPlace > 0 ? [start, ...this.#rest] : this.#rest);
  }
}

/** Returns an array of `length` zeros, or an empty array if the allocation fails. */
function allocated(length: number): Bytes {
  try {
    return new Uint8Array(length);
  } catch {
    return new Uint8Array();
  }
}
