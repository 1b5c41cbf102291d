import type { Call, Outcome } from "./glue.js";

/** A promise in the form of a module's call. */
export class PromiseCall<T> implements Call<T> {
  #settled: { outcome: Outcome<T> } | { error: unknown } | undefined;
  #done: Promise<void>;

  constructor(promise: Promise<Outcome<T>>) {
    this.#done = promise.then(
      (outcome) => void (this.#settled = { outcome }),
      (error: unknown) => void (this.#settled = { error }),
    );
  }

  poll(wake: () => void): Outcome<T> | undefined {
    if (!this.#settled) void this.#done.then(wake);
    else if ("error" in this.#settled) throw this.#settled.error;
    else return this.#settled.outcome;
    return undefined;
  }

  free(): void {
    // There is nothing to free.
  }
}
