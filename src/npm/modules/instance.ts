import { PagepressError, toPagepressError } from "../base/errors.js";

/** What every generated module has. */
export interface Glue {
  default(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;
  /** Makes a new instance; objects of the one before throw from then on. */
  __wbg_reset_state(): void;
  /** Rejects the promises of an instance that stopped, and gives up its GPUs. */
  stop?(reason: string): unknown;
}

/** What the glue throws for an object of an instance before. */
const STALE = "Invalid stale object";

/** A generated module whose instance is replaced after a panic or a trap. */
export class Instance<G extends Glue> {
  /** Its classes and functions, to be called within `run` and `call`. */
  readonly glue: G;
  #generation = 0;

  constructor(glue: G) {
    this.glue = glue;
  }

  /** The number of the instance in use, in which objects are that are made now. */
  get generation(): number {
    return this.#generation;
  }

  /** What `work` gives; throws `PagepressError`s. */
  run<T>(work: (glue: G) => T): T {
    try {
      return work(this.glue);
    } catch (error) {
      throw this.#errorOf(error, this.#generation);
    }
  }

  /** What `work` promises; rejects with `PagepressError`s. */
  async call<T>(work: (glue: G) => Promise<T>): Promise<T> {
    const generation = this.#generation;
    try {
      return await work(this.glue);
    } catch (error) {
      throw this.#errorOf(error, generation);
    }
  }

  /** `thrown` as callers get it. The first error that stopped the instance of number `generation` has it replaced. */
  #errorOf(thrown: unknown, generation: number): PagepressError {
    if (thrown instanceof Error && thrown.message.startsWith(STALE)) return lost();
    const error = toPagepressError(thrown);
    if (error !== thrown && error.code === "INTERNAL" && generation === this.#generation) this.#replace(error.message);
    return error;
  }

  #replace(reason: string): void {
    this.#generation += 1;
    try {
      this.glue.stop?.(reason);
    } catch {
      // It is in no state to give up what it has.
    }
    this.glue.__wbg_reset_state();
  }
}

/** An object of a module. It is lost with the instance that it was made in: its memory is then that of another object. */
export class Held<G extends Glue, T extends { free(): void }> {
  readonly #module: Instance<G>;
  readonly #object: T;
  readonly #generation: number;

  constructor(module: Instance<G>, make: (glue: G) => T) {
    this.#module = module;
    this.#object = module.run(make);
    this.#generation = module.generation;
  }

  /** The object, unless it is lost. */
  get object(): T | undefined {
    return this.#generation === this.#module.generation ? this.#object : undefined;
  }

  /** What `work` gives; throws `PagepressError`s. */
  use<R>(work: (object: T) => R): R {
    const { object } = this;
    if (!object) throw lost();
    return this.#module.run(() => work(object));
  }

  free(): void {
    this.object?.free();
  }
}

/** The error of what was in an instance that stopped in another call. */
export function lost(): PagepressError {
  return new PagepressError("INTERNAL", "the engine stopped in another call, and this was lost with it");
}
