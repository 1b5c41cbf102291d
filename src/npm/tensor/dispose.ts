import { PagepressError } from "../errors.js";

declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** `Symbol.dispose`, which `using` calls; an unused symbol where the language is older. */
export const disposal: typeof Symbol.dispose = Symbol.dispose ?? (Symbol("dispose") as typeof Symbol.dispose);

/** `Symbol.asyncDispose`, which `await using` calls, likewise. */
export const asyncDisposal: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol("asyncDispose") as typeof Symbol.asyncDispose);

/** An object of the module, until it is disposed of. */
export class Held<T extends { release(): void }> {
  #raw: T | undefined;
  readonly #what: string;

  constructor(raw: T, what: string) {
    this.#raw = raw;
    this.#what = what;
  }

  get isDisposed(): boolean { return this.#raw === undefined; }

  /** The object; throws `DISPOSED` after `dispose`. */
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
      // The instance of the module that made it stopped, and freed all memory.
    }
  }
}
