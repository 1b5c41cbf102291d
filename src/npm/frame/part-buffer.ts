/** Content that comes in pieces of any size, until there is enough of it to compress. */
export class ContentPart {
  readonly #partBytes: number;
  /** Memory for content that its owner may change before it is compressed. */
  #room: Uint8Array | undefined;
  #held = new Uint8Array() as Uint8Array;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  /** Takes what fits of `content`, and says how many bytes. A full part is compressed before the caller has its array again,
   * so that it need not be copied. */
  add(content: Uint8Array): number {
    const { length } = this.#held;
    const taken = content.subarray(0, this.#partBytes - length);
    if (length === 0 && taken.length === this.#partBytes) {
      this.#held = taken;
    } else {
      this.#room ??= new Uint8Array(this.#partBytes);
      this.#room.set(taken, length);
      this.#held = this.#room.subarray(0, length + taken.length);
    }
    return taken.length;
  }

  isFull(): boolean {
    return this.#held.length === this.#partBytes;
  }

  /** What is held, until more is added. */
  take(): Uint8Array {
    const content = this.#held;
    this.#held = new Uint8Array();
    return content;
  }
}
