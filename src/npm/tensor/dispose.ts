import { PagepressError } from "../errors.js";

declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** `Symbol.dispose`, which `using` calls; a symbol that nobody asks for where the language is older. */
export const disposal: typeof Symbol.dispose = Symbol.dispose ?? (Symbol("dispose") as typeof Symbol.dispose);

/** An object of the module, until it is given up. */
export class Held<T extends { free(): void }> {
  #raw: T | undefined;
  readonly #what: string;

  constructor(raw: T, what: string) {
    this.#raw = raw;
    this.#what = what;
  }

  get isDisposed(): boolean {
    return this.#raw === undefined;
  }

  /** The object; throws `DISPOSED` once it was given up. */
  get(): T {
    if (this.#raw) return this.#raw;
    throw new PagepressError("DISPOSED", `this ${this.#what} was disposed of`);
  }

  dispose(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }
}
