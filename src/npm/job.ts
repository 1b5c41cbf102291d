import { toPagepressError } from "./errors.js";
import type { Call, Outcome } from "./codec.js";
import type { StopSignal } from "./stop.js";
import { nextTask } from "./task.js";
import type { CallOptions, Engine } from "./types.js";

/** Others get the thread after this long, so that the page stays responsive and signals come through. */
const LONGEST_STEP_MS = 8;

/** How a call is watched, and stopped. */
export type JobOptions = Pick<CallOptions, "onProgress"> & { signal?: StopSignal | undefined };

/** What a caller asked of a call beside its result: to be told how far it is, and to be able to stop it. */
export class Job {
  readonly #options: JobOptions;
  readonly #totalBytes: number | null;
  #told = { bytesIn: -1, bytesOut: 0 };
  #lastRest = performance.now();
  #thrown: { error: unknown } | undefined;

  /** `totalBytes` is the length of the input, null if it is not known. */
  constructor(options: JobOptions, totalBytes: number | null) {
    this.#options = options;
    this.#totalBytes = totalBytes;
  }

  /** Throws the signal's reason if it is aborted. */
  check(): void {
    this.#options.signal?.throwIfAborted();
  }

  /** `error` as callers get it: as it is if it is theirs, else a `PagepressError`. */
  errorOf(error: unknown): unknown {
    const { signal } = this.#options;
    const isTheirs = (signal?.aborted && error === signal.reason) || this.#thrown?.error === error;
    return isTheirs ? error : toPagepressError(error);
  }

  /** Tells how far the call is, unless that was told before. */
  report(bytesIn: number, bytesOut: number, backend: Engine): void {
    const { onProgress } = this.#options;
    const told = this.#told;
    const isNews = bytesIn > told.bytesIn || (bytesIn === told.bytesIn && bytesOut > told.bytesOut);
    if (!onProgress || !isNews) return;
    this.#told = { bytesIn, bytesOut };
    try {
      onProgress({ bytesIn, bytesOut, totalBytes: this.#totalBytes, backend });
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** Tells how far `call` is, and gives it up if that goes wrong. */
  #reportOf(call: Call<unknown>): void {
    if (call.bytesIn() === 0) return;
    try {
      this.report(call.bytesIn(), call.bytesOut(), call.engine());
    } catch {
      call.cancel();
    }
  }

  /** Gives others the thread if they did not have it for long. */
  async rest(): Promise<void> {
    if (performance.now() - this.#lastRest <= LONGEST_STEP_MS) return;
    await nextTask();
    this.#lastRest = performance.now();
  }

  /** Drives a call to its end, or gives it up when the signal is aborted. A trap rejects like any other error. */
  async drive<T>(call: Call<T>): Promise<Outcome<T>> {
    const { signal } = this.#options;
    let wake = (): void => undefined;
    const abort = (): void => {
      call.cancel();
      wake();
    };
    signal?.addEventListener("abort", abort);
    try {
      for (;;) {
        let isWoken = false;
        const woken = new Promise<void>((resolve) => {
          wake = () => {
            isWoken = true;
            resolve();
          };
        });
        const outcome = pollOnce(call, wake);
        if (outcome) return outcome;
        this.#reportOf(call);
        if (isWoken) await this.rest();
        else await woken;
      }
    } catch (error) {
      // Whatever it was, it is of no interest to a caller who gave the call up.
      this.check();
      throw this.#thrown ? this.#thrown.error : error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

function pollOnce<T>(call: Call<T>, wake: () => void): Outcome<T> | undefined {
  try {
    const outcome = call.poll(wake);
    if (outcome) call.free();
    return outcome;
  } catch (error) {
    call.free();
    throw error;
  }
}
