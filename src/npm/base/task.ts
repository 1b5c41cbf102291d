/** `setImmediate` of Node. The CommonJS build defines it where a host hides the global. */
declare const setImmediate: ((task: () => void) => unknown) | undefined;

/** Channel whose messages run tasks, created at its first use. Unlike timers, messages have no minimum delay. */
let channel: MessageChannel | undefined;
const waiting: (() => void)[] = [];

/** Resolves in a new task of the event loop, which lets timers, events and painting run. */
export function nextTask(): Promise<void> {
  // In Node an open channel would keep the process alive.
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => {
    waiting.push(resolve);
    open().port2.postMessage(null);
  });
}

function open(): MessageChannel {
  if (channel) return channel;
  channel = new MessageChannel();
  channel.port1.onmessage = () => waiting.shift()?.();
  return channel;
}
