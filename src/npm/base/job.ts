import { PagepressError, toPagepressError } from "./errors.js";
import type { StopSignal } from "./stop.js";
import { nextTask } from "./task.js";
import type { CallOptions, Engine } from "./types.js";

/** Others get the thread after this long, so that the page stays responsive and signals come through. */
const LONGEST_STEP_MS = 8;

/** How a call is watched, and stopped. */
type JobOptions = Pick<CallOptions, "onProgress"> & { signal?: StopSignal | undefined };

/** How far a call is. */
type Report = (bytesIn: number, bytesOut: number, engine: Engine) => void;

/** What a caller asked of a call beside its result: to be told how far it is, and to be able to stop it. */
export class Job {
  readonly signal: StopSignal | undefined;
  readonly #onProgress: CallOptions["onProgress"];
  readonly #totalBytes: number | null;
  #told = { bytesIn: -1, bytesOut: 0 };
  #lastRest = performance.now();
  #thrown: { error: unknown } | undefined;

  /** `totalBytes` is the length of the input, null if it is not known. */
  constructor({ signal, onProgress }: JobOptions = {}, totalBytes: number | null = null) {
    this.signal = signal;
    this.#onProgress = onProgress;
    this.#totalBytes = totalBytes;
  }

  /** A job for a part of the work, which is stopped with this one and reports to `report`. */
  part(report: Report): Job {
    const onProgress: CallOptions["onProgress"] = ({ bytesIn, bytesOut, backend }) => report(bytesIn, bytesOut, backend);
    return new Job({ signal: this.signal, onProgress });
  }

  get isStopped(): boolean {
    return this.signal?.aborted ?? false;
  }

  /** Throws the signal's reason if it is aborted. */
  check(): void {
    this.signal?.throwIfAborted();
  }

  /** `error` as callers get it: as it is if it is theirs, else a `PagepressError`. */
  errorOf(error: unknown): unknown {
    // Whatever it was, it is of no interest to a caller who gave the call up.
    if (this.isStopped) return this.signal?.reason;
    return this.isThrown(error) ? error : toPagepressError(error);
  }

  /** Whether `onProgress` threw it. */
  isThrown(error: unknown): boolean {
    return this.#thrown !== undefined && this.#thrown.error === error;
  }

  /** Tells how far the call is, unless that was told before. */
  report(bytesIn: number, bytesOut: number, backend: Engine): void {
    const told = this.#told;
    const isNews = bytesIn > told.bytesIn || (bytesIn === told.bytesIn && bytesOut > told.bytesOut);
    if (!this.#onProgress || !isNews) return;
    this.#told = { bytesIn, bytesOut };
    try {
      this.#onProgress({ bytesIn, bytesOut, totalBytes: this.#totalBytes, backend });
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** Gives others the thread if they did not have it for long; throws if the job was stopped. */
  async rest(): Promise<void> {
    if (performance.now() - this.#lastRest > LONGEST_STEP_MS) {
      await nextTask();
      this.#lastRest = performance.now();
    }
    this.check();
  }

  /** Resolves when `work` has settled, or as soon as the job is stopped. */
  async settled(work: Promise<unknown>): Promise<void> {
    const { signal } = this;
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    await Promise.race([work.then(() => undefined, () => undefined), stopped]);
    signal?.removeEventListener("abort", stop);
  }
}

/** The reason of a stop of our own. */
export function cancelled(): PagepressError {
  return new PagepressError("CANCELLED", "cancelled");
}
