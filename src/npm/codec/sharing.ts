/** Least bytes of content that may be worth the transfer to a worker and back. */
export const MIN_SHARED_BYTES = 256 * 1024;

/** Estimates until a call of the kind has been timed: milliseconds per byte in the calling thread, and milliseconds to
 * transfer the parts and wake the workers. */
const FIRST = { compress: 2.4e-6, decompress: 0.8e-6, costMs: 2 };
/** Weight of a new measurement. */
const NEW = 0.3;
/** Bytes of a call below which its time is not proportional to them. */
const MIN_TIMED_BYTES = 64 * 1024;
/** Least gain in time that is worth the memory of the copies. */
const LEAST_GAIN = 0.1;
/** Share by which a cost above the first estimate returns to it with each call in place: a busy machine becomes quiet. */
const FORGOTTEN = 0.02;

interface Estimate {
  msPerByte: number;
  costMs: number;
  /** False until the time per byte is measured. */
  isTimed: boolean;
}

/**
 * Decides by the times of earlier calls which calls to divide among workers.
 *
 * A call of n bytes takes r n in the calling thread and c + r n / w on w workers. The rate r is measured by calls in place, the
 * cost c by shared ones; where sharing does not pay, c grows until calls of that size stay in place.
 */
export class Sharing {
  readonly #nWorkers: number;
  readonly #estimates = new Map<string, Estimate>();

  constructor(nWorkers: number) {
    this.#nWorkers = nWorkers;
  }

  /** Returns true if workers are expected to be faster. `kind` begins with `compress` or `decompress`; calls of a kind are
   * about equally fast per byte. */
  isWorth(kind: string, nBytes: number): boolean {
    if (nBytes < MIN_SHARED_BYTES) return false;
    // One worker is not faster. It was asked for, to keep the calling thread free.
    if (this.#nWorkers < 2) return true;
    const { msPerByte, costMs } = this.#estimate(kind);
    return msPerByte * nBytes * (1 - LEAST_GAIN - 1 / this.#nWorkers) > costMs;
  }

  noteInPlace(kind: string, nBytes: number, ms: number): void {
    if (nBytes < MIN_TIMED_BYTES) return;
    const estimate = this.#estimate(kind);
    const rate = ms / nBytes;
    estimate.msPerByte = estimate.isTimed ? mix(estimate.msPerByte, rate) : rate;
    estimate.isTimed = true;
    if (estimate.costMs > FIRST.costMs) estimate.costMs -= FORGOTTEN * (estimate.costMs - FIRST.costMs);
  }

  noteShared(kind: string, nBytes: number, ms: number): void {
    const estimate = this.#estimate(kind);
    const costMs = Math.max(0, ms - (estimate.msPerByte * nBytes) / this.#nWorkers);
    estimate.costMs = mix(estimate.costMs, costMs);
  }

  #estimate(kind: string): Estimate {
    let estimate = this.#estimates.get(kind);
    if (!estimate) {
      const msPerByte = kind.startsWith("compress") ? FIRST.compress : FIRST.decompress;
      estimate = { msPerByte, costMs: FIRST.costMs, isTimed: false };
      this.#estimates.set(kind, estimate);
    }
    return estimate;
  }
}

function mix(old: number, measured: number): number {
  return old + NEW * (measured - old);
}
