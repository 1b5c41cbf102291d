/** A chunk that the writer waits for. */
interface Offer<T> {
  /** Null for the end. */
  readonly chunk: T | null;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Chunks from a writer to a reader, one at a time. The writer waits until the reader is done with its chunk, so a slow
 * reader holds it back. */
export class Handoff<T> implements AsyncIterable<T> {
  #offer: Offer<T> | undefined;
  #current: Offer<T> | undefined;
  #failure: { reason: unknown } | undefined;
  #wake = (): void => undefined;

  /** Resolves when the reader is done with the chunk; of the end, when it is done with all. */
  put(chunk: T | null): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.reason);
      this.#offer = { chunk, resolve, reject };
      this.#wake();
    });
  }

  /** The reader was done with everything. */
  finish(): void {
    this.#current?.resolve();
    this.#current = undefined;
  }

  /** Nothing more is to come of this, on either side. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#current?.reject(reason);
    this.#offer?.reject(reason);
    this.#current = this.#offer = undefined;
    this.#wake();
  }

  /** Whether `error` is what `fail` was told. */
  isFailure(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.reason === error;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure.reason;
      if (!this.#offer) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#current = this.#offer;
      this.#offer = undefined;
      if (this.#current.chunk === null) return;
      yield this.#current.chunk;
      this.finish();
    }
  }
}
