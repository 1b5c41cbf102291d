import { type Bytes, join } from "../base/bytes.js";
import { checkLimit } from "./content.js";

/** Bytes of a sheet, and how many are kept at most. */
const SHEET_BYTES = 2 ** 22;
const MOST_SHEETS = 16;
/** Room that is worth being filled: what is left on a sheet below it stays empty. */
const LEAST_ROOM_BYTES = 2 ** 20;
/** Output of no more input is one part, which is best left where it is made. */
const SHORT_BYTES = 2 ** 18;
/** For so long after the last use they are kept. */
const IDLE_MS = 5_000;

/** Sheets that no draft has. Memory that was never touched takes longer to fill than output to be copied. */
const blank: Bytes[] = [];
let idle: ReturnType<typeof setTimeout> | undefined;

/** Output whose length is known only when all its parts are there. */
export class Draft {
  readonly #limit: number;
  readonly #isShort: boolean;
  readonly #parts: Bytes[] = [];
  readonly #sheets: Bytes[] = [];
  /** What is filled of the last sheet. */
  #filled = 0;
  #length = 0;

  /** Output of at most `limit` bytes, of input of `length`. */
  constructor(limit: number, length: number) {
    this.#limit = limit;
    this.#isShort = length <= SHORT_BYTES;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Where the next part may be put. */
  room(): Bytes | undefined {
    if (this.#isShort) return undefined;
    if (this.#sheets.length === 0 || SHEET_BYTES - this.#filled < LEAST_ROOM_BYTES) {
      this.#sheets.push(blank.pop() ?? new Uint8Array(SHEET_BYTES));
      this.#filled = 0;
    }
    return (this.#sheets.at(-1) as Bytes).subarray(this.#filled);
  }

  /** Takes the next part, which is in the room or nobody else's. */
  add(part: Bytes): void {
    this.#length += part.length;
    checkLimit(this.#length, this.#limit);
    this.#parts.push(part);
    if (part.buffer === this.#sheets.at(-1)?.buffer) this.#filled += part.length;
  }

  /** All parts in one array. */
  finish(): Bytes {
    const [first] = this.#parts;
    const isWhole = this.#parts.length === 1 && this.#sheets.length === 0;
    return first && isWhole ? first : join(this.#parts);
  }

  /** Leaves the room to others. */
  free(): void {
    blank.push(...this.#sheets.splice(0, MOST_SHEETS - blank.length));
    this.#sheets.length = 0;
    clearTimeout(idle);
    idle = blank.length === 0 ? undefined : setTimeout(() => blank.splice(0), IDLE_MS);
    // Node and Bun would wait for it.
    (idle as { unref?(): void } | undefined)?.unref?.();
  }
}
