import type { Call, Outcome } from "./glue.js";

/** Calls whose module trapped in them. They are kept, since they can neither be freed nor be left to the collector. */
const stopped: unknown[] = [];

/** Drives a call to its end. A trap of the module rejects like any other error. */
export async function drive<T>(call: Call<T>): Promise<Outcome<T>> {
  for (;;) {
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const outcome = pollOnce(call, wake);
    if (outcome) return outcome;
    await woken;
  }
}

function pollOnce<T>(call: Call<T>, wake: () => void): Outcome<T> | undefined {
  try {
    const outcome = call.poll(wake);
    if (outcome) call.free();
    return outcome;
  } catch (error) {
    if (error instanceof Error && "code" in error) call.free();
    else stopped.push(call);
    throw error;
  }
}
