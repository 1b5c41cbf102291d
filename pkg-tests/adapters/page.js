// Runs all cases in the window and in a worker. `globalThis.result` has the error of each failed case.
import { runAll } from "./run-all.js";

async function inWorker() {
  const worker = new Worker("worker-bundle.js", { type: "module" });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ worker: message });
  });
}

globalThis.result = await runAll().then(async (window) => ({ window, worker: await inWorker() }));
