/** Collects content that comes in pieces of any size to parts of one size. */
export class PartBuffer {
  readonly #partBytes: number;
  /** Memory for pieces that their owner may change before the part is full. */
  #memory: Uint8Array | undefined;
  #part = new Uint8Array() as Uint8Array;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  /** Takes as much of `content` as fits, and returns the number of bytes. A piece that is a whole part is not copied: it is
   * compressed before the caller has its array again. */
  add(content: Uint8Array): number {
    const { length } = this.#part;
    const taken = content.subarray(0, this.#partBytes - length);
    if (length === 0 && taken.length === this.#partBytes) {
      this.#part = taken;
    } else {
      this.#memory ??= new Uint8Array(this.#partBytes);
      this.#memory.set(taken, length);
      this.#part = this.#memory.subarray(0, length + taken.length);
    }
    return taken.length;
  }

  isFull(): boolean {
    return this.#part.length === this.#partBytes;
  }

  /** Returns the part, which is valid until more is added. */
  take(): Uint8Array {
    const part = this.#part;
    this.#part = new Uint8Array();
    return part;
  }
}
