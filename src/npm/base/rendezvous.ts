interface Offer<T> {
  /** Null at the end of the input. */
  readonly chunk: T | null;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Passes chunks from one writer to one reader without a queue: the writer waits until the reader has processed its chunk. A
 * `TransformStream` cannot do that: it queues all output of a chunk, which may be 255 times as long as the chunk. */
export class RendezvousChannel<T> implements AsyncIterable<T> {
  #offer: Offer<T> | undefined;
  #failure: { reason: unknown } | undefined;
  #wake = (): void => undefined;

  /** Passes a chunk, or null as the end, to the reader. Resolves when the reader has processed the chunk; for the end, when
   * `accept` is called. Rejects with the reason of `fail`. */
  put(chunk: T | null): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.reason);
      this.#offer = { chunk, resolve, reject };
      this.#wake();
    });
  }

  /** Resolves the promise of the current `put`. */
  accept(): void {
    this.#offer?.resolve();
    this.#offer = undefined;
  }

  /** Closes the channel with an error for writer and reader. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#offer?.reject(reason);
    this.#offer = undefined;
    this.#wake();
  }

  /** Returns true if `error` is the reason that `fail` was called with. */
  isFailure(error: unknown): boolean {
    return this.#failure !== undefined && this.#failure.reason === error;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      if (!this.#offer && !this.#failure) await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#failure) throw this.#failure.reason;
      const chunk = this.#offer?.chunk ?? null;
      if (chunk === null) return;
      yield chunk;
      this.accept();
    }
  }
}
