import { PagepressError } from "./errors.js";
import { contentSizeOf, join } from "./frame.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** A byte of a block stands for so many bytes of content at most. */
const LARGEST_EXPANSION = 255;
/** A page of memory, which a system gives to a process when it is first touched. */
const PAGE_BYTES = 4096;

/** Content that comes in parts. If its size is known, they are copied to where they stay. */
export class Content {
  readonly #limit: number;
  /** What the header promises, filled from the start. */
  #whole: Bytes;
  /** What comes after that, or all if nothing was promised. */
  #rest: Bytes[] = [];
  #length = 0;

  /** Content of at most `limit` bytes; `size` is what a header says of it, which may be wrong: so much must be possible for
   * `packedLength` bytes. */
  constructor(limit: number, size: number | null, packedLength: number) {
    this.#limit = limit;
    const most = Math.min(limit, packedLength * LARGEST_EXPANSION);
    this.#whole = allocated(size !== null && size <= most ? size : 0);
  }

  /** That of the frames in `packed`. */
  static of(packed: Uint8Array, limit: number): Content {
    return new Content(limit, contentSizeOf(packed), packed.length);
  }

  get length(): number {
    return this.#length;
  }

  /** Takes the next part; `isOwn` if nobody else changes it later. */
  add(part: Uint8Array, isOwn = false): void {
    const at = this.#length;
    this.#length += part.length;
    checkLimit(this.#length, this.#limit);
    if (this.#length <= this.#whole.length) place(this.#whole, part, at);
    else this.#rest.push((isOwn ? part : part.slice()) as Bytes);
  }

  /** All parts in one array. */
  finish(): Bytes {
    const [first] = this.#rest;
    if (!first && this.#length === this.#whole.length) return this.#whole;
    const inPlace = this.#rest.reduce((left, { length }) => left - length, this.#length);
    if (first?.length === this.#length) return first;
    return join([this.#whole.subarray(0, inPlace), ...this.#rest]);
  }
}

/** Copies `part` to `at` in fresh memory. Pages of it are touched before: to be stopped by each one in the middle of a copy
 * costs a quarter more. */
function place(whole: Bytes, part: Uint8Array, at: number): void {
  for (let i = at; i < at + part.length; i += PAGE_BYTES) whole[i] = 0;
  whole.set(part, at);
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
