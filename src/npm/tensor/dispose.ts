import { PagepressError } from "../base/errors.js";

/** Owner of an object of the module until it is disposed of. */
export class Held<T extends { release(): void }> {
  #raw: T | undefined;
  readonly #what: string;

  constructor(raw: T, what: string) {
    this.#raw = raw;
    this.#what = what;
  }

  get isDisposed(): boolean { return this.#raw === undefined; }

  /** Returns the object; throws `DISPOSED` after `dispose`. */
  get(): T {
    if (this.#raw) return this.#raw;
    throw new PagepressError("DISPOSED", `this ${this.#what} was disposed of`);
  }

  dispose(): void {
    const raw = this.#raw;
    this.#raw = undefined;
    try {
      raw?.release();
    } catch {
      // The module instance that created it has stopped, which freed all memory.
    }
  }
}
