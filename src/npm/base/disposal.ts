declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** `Symbol.dispose`, the name of the method that `using` calls; another symbol in engines without it. */
export const disposal: typeof Symbol.dispose = Symbol.dispose ?? (Symbol("dispose") as typeof Symbol.dispose);

/** `Symbol.asyncDispose`, the name of the method that `await using` calls; another symbol in engines without it. */
export const asyncDisposal: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol("asyncDispose") as typeof Symbol.asyncDispose);
