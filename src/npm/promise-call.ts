import { drive } from "./drive.js";
import { PagepressError } from "./errors.js";
import type { Call, Outcome } from "./codec.js";
import { Stop } from "./stop.js";
import type { Engine, Progress } from "./types.js";

/** How work in a promise is told to stop, and tells how far it is. */
export interface Control {
  isCancelled: boolean;
  /** Has what was done so far told. */
  tell(bytesIn: number, bytesOut: number, engine: Engine): void;
  /** Stops the call that does the work at present, if one does. */
  stop?: () => void;
}

/** A way of doing a call that is not for this one: it is to be done in another, which says what is wrong if anything is. */
export class NotThisWay extends Error {
  readonly code = "CANCELLED";
}

type Settled<T> = { outcome: Outcome<T> } | { error: unknown };

/** A promise in the form of a module's call. */
export class PromiseCall<T> implements Call<T> {
  #control: Control = { isCancelled: false, tell: (...told) => this.#tell(...told) };
  #told: { bytesIn: number; bytesOut: number; engine: Engine } = { bytesIn: 0, bytesOut: 0, engine: "cpu" };
  #wake: () => void = () => undefined;
  #settled: Settled<T> | undefined;

  constructor(work: (control: Control) => Promise<Outcome<T>>) {
    const settle = (settled: Settled<T>): void => {
      this.#settled = settled;
      this.#wake();
    };
    void work(this.#control).then(
      (outcome) => settle({ outcome }),
      (error: unknown) => settle({ error }),
    );
  }

  poll(wake: () => void): Outcome<T> | undefined {
    if (!this.#settled) this.#wake = wake;
    else if ("error" in this.#settled) throw this.#settled.error;
    else return this.#settled.outcome;
    return undefined;
  }

  cancel(): void {
    this.#control.isCancelled = true;
    this.#control.stop?.();
  }

  bytesIn(): number {
    return this.#told.bytesIn;
  }

  bytesOut(): number {
    return this.#told.bytesOut;
  }

  engine(): Engine {
    return this.#told.engine;
  }

  free(): void {
    // There is nothing to free.
  }

  #tell(bytesIn: number, bytesOut: number, engine: Engine): void {
    this.#told = { bytesIn, bytesOut, engine };
    this.#wake();
  }
}

/** Drives `call` as a part of the work of `control`. `tell` is told how far it is. */
export function driveWithin<T>(control: Control, call: Call<T>, tell: Control["tell"] = control.tell): Promise<Outcome<T>> {
  const signal = new Stop();
  control.stop = () => signal.abort(cancelled());
  if (control.isCancelled) control.stop();
  const onProgress = ({ bytesIn, bytesOut, backend }: Progress): void => tell(bytesIn, bytesOut, backend);
  return drive(call, { signal, onProgress }).finally(() => delete control.stop);
}

export function cancelled(): PagepressError {
  return new PagepressError("CANCELLED", "cancelled");
}
