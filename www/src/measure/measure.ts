// Times calls. Browsers round their clocks to 0.1 ms or more, so a short call is repeated until the rounding is negligible.

/** Minimum duration of a measurement in milliseconds. A clock of 0.1 ms is then wrong by at most 1 %. */
export const LEAST_MS = 20;

/** A timed call. */
export interface Measured<T> {
  /** Mean duration of a call. */
  milliseconds: number;
  /** How often it was called. */
  calls: number;
  /** The value of the last call. */
  value: T;
}

/** Calls `work` until at least `LEAST_MS` have passed, and returns the mean duration of a call. */
export async function measure<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<Measured<T>> {
  signal?.throwIfAborted();
  const start = performance.now();
  for (let calls = 1; ; calls += 1) {
    const value = await work();
    const passed = performance.now() - start;
    if (passed >= LEAST_MS) return { milliseconds: passed / calls, calls, value };
    signal?.throwIfAborted();
  }
}

/** Returns the items in a new random order, so that a disturbance of the machine does not always hit the same one. */
export function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items];
  for (let end = mixed.length - 1; end > 0; end -= 1) {
    const at = Math.floor(Math.random() * (end + 1));
    [mixed[end], mixed[at]] = [mixed[at] as T, mixed[end] as T];
  }
  return mixed;
}

/** Calls each task once per round, in a random order that differs between rounds. `more` ends a task's rounds early. */
export async function interleaved<T>(
  tasks: readonly T[],
  rounds: number,
  run: (task: T) => Promise<void>,
  more: (task: T) => boolean = () => true,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const task of shuffled(tasks)) if (round === 0 || more(task)) await run(task);
  }
}
