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
