/** Least bytes of content that may be worth the transfer to a worker and back. */
export const MIN_SHARED_BYTES = 256 * 1024;

/** Estimates until a call of the kind has been timed: milliseconds per byte in the calling thread, and milliseconds to
 * transfer the parts and wake the workers. */
const FIRST = { compress: 2e-6, decompress: 0.8e-6, costMs: 2 };
/** Least cost that is assumed: estimates from long calls are too rough for short ones. */
const LEAST_COST_MS = 1;
/** Weight of a new measurement. */
const NEW = 0.3;
/** Least gain in time that is worth the memory of the copies. */
const LEAST_GAIN = 0.1;
/** Bytes of a call below which its time is not proportional to them. */
const MIN_TIMED_BYTES = 64 * 1024;
/** Share by which a cost above the first estimate returns to it with each call in place: a busy machine becomes quiet. */
const FORGOTTEN = 0.02;
/** Maximum bytes of a call that stays in place only to be timed. */
const MAX_TRIAL_BYTES = 64 * 1024 * 1024;

interface Estimate {
  msPerByte: number;
  /** False until the time per byte is measured. */
  isTimed: boolean;
  /** Bytes and milliseconds of shared calls, averaged; undefined before the first. */
  shared?: { nBytes: number; ms: number };
}

/**
 * Decides by the times of earlier calls which calls to divide among workers.
 *
 * A call of n bytes takes r n in the calling thread and c + r n / w on w workers. Calls in place measure r, shared ones c, which
 * grows where sharing does not pay until calls of that size stay in place. After the first shared call one stays in place, to
 * measure r.
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
    const estimate = this.#estimate(kind);
    if (estimate.shared && !estimate.isTimed && nBytes <= MAX_TRIAL_BYTES) return false;
    return estimate.msPerByte * nBytes * (1 - LEAST_GAIN - 1 / this.#nWorkers) > this.#costMs(estimate);
  }

  noteInPlace(kind: string, nBytes: number, ms: number): void {
    if (nBytes < MIN_TIMED_BYTES) return;
    const estimate = this.#estimate(kind);
    const rate = ms / nBytes;
    estimate.msPerByte = estimate.isTimed ? mix(estimate.msPerByte, rate) : rate;
    estimate.isTimed = true;
    const excess = this.#costMs(estimate) - FIRST.costMs;
    if (estimate.shared && excess > 0) estimate.shared.ms -= FORGOTTEN * excess;
  }

  noteShared(kind: string, nBytes: number, ms: number): void {
    const estimate = this.#estimate(kind);
    const { shared } = estimate;
    estimate.shared = shared ? { nBytes: mix(shared.nBytes, nBytes), ms: mix(shared.ms, ms) } : { nBytes, ms };
  }

  #costMs({ shared, msPerByte }: Estimate): number {
    return shared ? Math.max(LEAST_COST_MS, shared.ms - (msPerByte * shared.nBytes) / this.#nWorkers) : FIRST.costMs;
  }

  #estimate(kind: string): Estimate {
    let estimate = this.#estimates.get(kind);
    if (!estimate) {
      estimate = { msPerByte: kind.startsWith("compress") ? FIRST.compress : FIRST.decompress, isTimed: false };
      this.#estimates.set(kind, estimate);
    }
    return estimate;
  }
}

function mix(old: number, measured: number): number {
  return old + NEW * (measured - old);
}
