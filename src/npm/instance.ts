import { PagepressError, toPagepressError } from "./errors.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** What every generated module has. */
export interface Glue {
  default(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;
  /** Makes a new instance; objects of the one before throw from then on. */
  __wbg_reset_state(): void;
}

/** What the glue throws for an object of an instance before. */
const STALE = "Invalid stale object";

/** A generated module whose instance is replaced after a panic or a trap. */
export class Instance<G extends Glue> {
  /** Its classes and functions, to be called within `run`. */
  readonly glue: G;

  constructor(glue: G) {
    this.glue = glue;
  }

  /** What `work` gives; throws `PagepressError`s. */
  run<T>(work: (glue: G) => T): T {
    try {
      return work(this.glue);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /** `error` as callers get it. After one that stopped the instance there is a new one. */
  errorOf(thrown: unknown): PagepressError {
    if (thrown instanceof Error && thrown.message.startsWith(STALE)) return lost();
    const error = toPagepressError(thrown);
    if (error !== thrown && error.code === "INTERNAL") this.glue.__wbg_reset_state();
    return error;
  }
}

/** The error of what was in an instance that stopped in another call. */
export function lost(): PagepressError {
  return new PagepressError("INTERNAL", "the engine stopped in another call, and this was lost with it");
}
