/**
 * Runs `work` and resolves to `{ value, ms, blockedMs }`: its result, its duration, and the longest time between two messages
 * that the thread sends to itself meanwhile, which is at least the duration of the longest task.
 */
export async function measured(work) {
  const { port1, port2 } = new MessageChannel();
  const begin = performance.now();
  let [last, blockedMs] = [begin, 0];
  const note = () => {
    const now = performance.now();
    blockedMs = Math.max(blockedMs, now - last);
    last = now;
  };
  port1.onmessage = () => {
    note();
    port2.postMessage(null);
  };
  port2.postMessage(null);
  try {
    const value = await work();
    note();
    return { value, ms: performance.now() - begin, blockedMs };
  } finally {
    port1.close();
  }
}
