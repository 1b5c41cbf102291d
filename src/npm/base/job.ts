import { PagepressError, toPagepressError } from "./errors.js";
import type { StopSignal } from "./abort.js";
import { nextTask } from "./task.js";
import type { CallOptions, Engine } from "./types.js";

/** Milliseconds of work after which a job yields to the event loop. With the step that exceeds them, the page is blocked for less
 * than 8 ms. */
const LONGEST_STEP_MS = 5;

/** Options to observe and to abort a call. */
type JobOptions = Pick<CallOptions, "onProgress"> & { signal?: StopSignal | undefined };

/** A running call: its progress and its abort signal. */
export class Job {
  readonly signal: StopSignal | undefined;
  readonly #onProgress: CallOptions["onProgress"];
  readonly #totalBytes: number | null;
  #lastProgress = { bytesIn: -1, bytesOut: 0 };
  #lastYield = performance.now();
  #thrown: { error: unknown } | undefined;

  /** `totalBytes` is the length of the input; null if it is unknown. */
  constructor({ signal, onProgress }: JobOptions = {}, totalBytes: number | null = null) {
    this.signal = signal;
    this.#onProgress = onProgress;
    this.#totalBytes = totalBytes;
  }

  get isStopped(): boolean {
    return this.signal?.aborted ?? false;
  }

  /** Throws the signal's reason if it is aborted. */
  check(): void {
    this.signal?.throwIfAborted();
  }

  /** Returns the error to reject with: the signal's reason if the job was aborted, the error that `onProgress` threw, or a
   * `PagepressError`. */
  errorOf(error: unknown): unknown {
    if (this.isStopped) return this.signal?.reason;
    return this.isThrown(error) ? error : toPagepressError(error);
  }

  /** Returns true if `onProgress` threw `error`. */
  isThrown(error: unknown): boolean {
    return this.#thrown !== undefined && this.#thrown.error === error;
  }

  /** Calls `onProgress`, unless there is no progress since its last call. */
  report(bytesIn: number, bytesOut: number, backend: Engine): void {
    const last = this.#lastProgress;
    const isMore = bytesIn > last.bytesIn || (bytesIn === last.bytesIn && bytesOut > last.bytesOut);
    if (!this.#onProgress || !isMore) return;
    this.#lastProgress = { bytesIn, bytesOut };
    try {
      this.#onProgress({ bytesIn, bytesOut, totalBytes: this.#totalBytes, backend });
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** Yields to the event loop for one task if the last yield was more than 5 ms ago; throws the signal's reason if the job
   * was aborted. */
  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#lastYield > LONGEST_STEP_MS) {
      await nextTask();
      this.#lastYield = performance.now();
    }
    this.check();
  }

  /** Resolves when `work` has settled or the job is aborted. */
  async settled(work: Promise<unknown>): Promise<void> {
    const { signal } = this;
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    await Promise.race([Promise.allSettled([work]), stopped]);
    signal?.removeEventListener("abort", stop);
  }
}

/** Returns the error of cancelled work. `Job.errorOf` replaces it by the signal's reason. */
export function cancelled(): PagepressError {
  return new PagepressError("CANCELLED", "cancelled");
}
