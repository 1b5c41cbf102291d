/** Node's, by its name, which the build for CommonJS gives a meaning where there is no such global. */
declare const setImmediate: ((task: () => void) => unknown) | undefined;

/** Made when it is first needed. Unlike timers a channel has no shortest delay. */
let channel: MessageChannel | undefined;
const waiting: (() => void)[] = [];

/** Resolves in a task of its own: timers, events and painting had their turn. */
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
