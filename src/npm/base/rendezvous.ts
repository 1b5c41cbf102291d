interface Offer<T> {
  /** Null for the end. */
  readonly chunk: T | null;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Passes chunks from one writer to one reader without a queue: the writer waits until the reader is done with its chunk. A
 * `TransformStream` cannot do that, since it queues all output of a chunk, of which there may be 255 times as much. */
export class RendezvousChannel<T> implements AsyncIterable<T> {
  #offer: Offer<T> | undefined;
  #failure: { reason: unknown } | undefined;
  #wake = (): void => undefined;

  /** Resolves when the reader is done with the chunk; for null, the end, when `accept` is called. */
  put(chunk: T | null): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.reason);
      this.#offer = { chunk, resolve, reject };
      this.#wake();
    });
  }

  /** Resolves the promise of the chunk, or end, that the reader has. */
  accept(): void {
    this.#offer?.resolve();
    this.#offer = undefined;
  }

  /** Ends the channel with an error for both sides. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#offer?.reject(reason);
    this.#offer = undefined;
    this.#wake();
  }

  /** Returns whether `error` is the reason that `fail` was called with. */
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
