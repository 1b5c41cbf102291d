import { checkLimit } from "../base/arguments.js";
import { type Bytes, join } from "../base/bytes.js";

/** Bytes of a chunk, and maximum number of chunks that are kept for later outputs. */
const CHUNK_BYTES = 2 ** 22;
const MOST_CHUNKS = 16;
/** Minimum space of a chunk for another part; less space at its end stays unused. */
const LEAST_SPACE_BYTES = 2 ** 20;
/** Maximum bytes of input whose output is a single part, which is returned without a copy. */
const SHORT_BYTES = 2 ** 18;
/** Milliseconds for which chunks are kept after their last use. */
const IDLE_MS = 5_000;

/** Chunks that no output uses. Their pages are already faulted in: a first touch takes longer than the final copy. */
const freeChunks: Bytes[] = [];
let idle: ReturnType<typeof setTimeout> | undefined;

/** Collects output whose length is not known in advance. */
export class OutputBuffer {
  readonly #limit: number;
  readonly #isShort: boolean;
  readonly #parts: Bytes[] = [];
  readonly #chunks: Bytes[] = [];
  /** Bytes used in the last chunk. */
  #used = 0;
  /** Bytes of output so far. */
  length = 0;

  /** Begins an output of at most `limit` bytes for an input of `inputLength` bytes. */
  constructor(limit: number, inputLength: number) {
    this.#limit = limit;
    this.#isShort = inputLength <= SHORT_BYTES;
  }

  /** Returns memory to which the next part may be written; undefined for short input. */
  writable(): Bytes | undefined {
    if (this.#isShort) return undefined;
    if (this.#chunks.length === 0 || CHUNK_BYTES - this.#used < LEAST_SPACE_BYTES) {
      this.#chunks.push(freeChunks.pop() ?? new Uint8Array(CHUNK_BYTES));
      this.#used = 0;
    }
    return (this.#chunks.at(-1) as Bytes).subarray(this.#used);
  }

  /** Appends a part, which is at the start of `writable()` or in memory that is not used again. */
  add(part: Bytes): void {
    this.length += part.length;
    checkLimit(this.length, this.#limit);
    this.#parts.push(part);
    if (part.buffer === this.#chunks.at(-1)?.buffer) this.#used += part.length;
  }

  /** Returns all parts in one array. */
  finish(): Bytes {
    const [first] = this.#parts;
    const isWhole = this.#parts.length === 1 && this.#chunks.length === 0;
    return first && isWhole ? first : join(this.#parts);
  }

  /** Releases the chunks for later outputs. */
  free(): void {
    freeChunks.push(...this.#chunks.splice(0, MOST_CHUNKS - freeChunks.length));
    this.#chunks.length = 0;
    clearTimeout(idle);
    idle = freeChunks.length === 0 ? undefined : setTimeout(() => freeChunks.splice(0), IDLE_MS);
    // Node and Bun would wait for the timer.
    (idle as { unref?(): void } | undefined)?.unref?.();
  }
}
