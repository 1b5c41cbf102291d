/** The subset of `AbortSignal` that this package uses. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An `AbortController` and its signal in one object. Browsers free the listeners of an `AbortSignal` only at a garbage
 * collection, and a call in thousands of parts adds thousands of listeners. */
export class LightAbortController implements StopSignal {
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
