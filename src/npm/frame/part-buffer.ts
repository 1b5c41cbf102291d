/** Collects pieces of content of any size into parts of one size. */
export class PartBuffer {
  readonly #partBytes: number;
  /** Copies of pieces, which their owner may change before the part is full. */
  #memory: Uint8Array | undefined;
  #part = new Uint8Array() as Uint8Array;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  /** Adds as much of `content` as fits, and returns the number of bytes added. A piece that is a whole part is not copied:
   * it is compressed before its owner may change it. */
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

  /** Removes and returns the part, which is valid until more content is added. */
  take(): Uint8Array {
    const part = this.#part;
    this.#part = new Uint8Array();
    return part;
  }
}
