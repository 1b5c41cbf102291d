import { PagepressError, toPagepressError } from "../base/errors.js";
import type { CompiledModule } from "../base/types.js";

/** The generated JavaScript of a module. */
export interface Glue {
  default(options: { module_or_path: CompiledModule }): Promise<unknown>;
  /** Creates a new instance. Objects of the earlier instance throw from then on. */
  __wbg_reset_state(): void;
  /** Rejects the promises of an instance that stopped, and releases its GPUs. */
  stop?(reason: string): unknown;
}

/** Start of the glue's error message for an object of an earlier instance. */
const STALE = "Invalid stale object";

/** A generated module. After a panic or a trap its instance is replaced by a new one. */
export class Instance<G extends Glue> {
  /** The generated classes and functions, to be used only within `run`, `call` and `make`. */
  readonly glue: G;
  #generation = 0;

  constructor(glue: G) {
    this.glue = glue;
  }

  /** Number of instances that were replaced. */
  get generation(): number {
    return this.#generation;
  }

  /** Calls `work`, and returns its result; throws `PagepressError`s. */
  run<T>(work: (glue: G) => T): T {
    try {
      return work(this.glue);
    } catch (error) {
      throw this.#errorOf(error, this.#generation);
    }
  }

  /** Calls `work`, and returns its promise, which rejects with `PagepressError`s. */
  async call<T>(work: (glue: G) => Promise<T>): Promise<T> {
    const generation = this.#generation;
    try {
      return await work(this.glue);
    } catch (error) {
      throw this.#errorOf(error, generation);
    }
  }

  /** Returns the object of a generated class that `create` returns, with methods and getters that throw `PagepressError`s.
   * Once the instance was replaced they throw `INTERNAL`, and `free` does nothing: the memory belongs to another object
   * then. */
  make<T extends object>(create: (glue: G) => T): T {
    const object = this.run(create);
    const generation = this.#generation;
    const checked = <R>(work: () => R): R => {
      if (generation !== this.#generation) throw lost();
      return this.run(work);
    };
    const get = (target: T, name: string | symbol): unknown => {
      if (name === "free" && generation !== this.#generation) return () => undefined;
      const value: unknown = checked(() => Reflect.get(target, name));
      return typeof value === "function" ? (...args: unknown[]) => checked(() => Reflect.apply(value, target, args)) : value;
    };
    return new Proxy(object, { get });
  }

  /** Converts `thrown` to a `PagepressError`. The first error that stops the instance of number `generation` causes its
   * replacement. */
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
      // A stopped instance may fail to release its resources.
    }
    this.glue.__wbg_reset_state();
  }
}

/** Returns the error for objects of an instance that stopped in another call. */
export function lost(): PagepressError {
  return new PagepressError("INTERNAL", "the engine stopped in another call, and this was lost with it");
}
