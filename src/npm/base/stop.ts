/** What work needs of an `AbortSignal`. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An `AbortController` and its signal for ourselves. Of theirs, browsers keep the memory of each listener until their
 * collector comes by, and work in thousands of parts has thousands of listeners. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  #listeners = new Set<() => void>();

  abort(reason: unknown): void {
    if (this.aborted) return;
    [this.aborted, this.reason] = [true, reason];
    for (const listener of this.#listeners) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
