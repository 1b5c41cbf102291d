// Runs calls of page.js in a worker.
import "./page.js";

globalThis.onmessage = async ({ data: [method, ...values] }) => {
  try {
    globalThis.postMessage({ value: await globalThis.machines[method](...values) });
  } catch (error) {
    globalThis.postMessage({ error: String(error.stack ?? error) });
  }
};
