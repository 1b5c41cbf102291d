import { isMoved, packageUrl } from "../modules/package-url.js";
import type { PoolWorker } from "./pool.js";

interface NodeWorker extends PoolWorker {
  on(type: "message" | "error" | "messageerror", listener: (value: unknown) => void): void;
}

/** Starts the package's own worker; bundlers find its file by this very line. Rejects where there are no workers. */
export async function startWorker(): Promise<PoolWorker> {
  if (typeof Worker === "function") {
    const own = import.meta.url;
    if (isMoved(own)) return new Worker(new URL("worker.js", packageUrl(new URL(own))), { type: "module", name: "pagepress" });
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "pagepress" });
  }
  const here = import.meta.url;
  const url = new URL("./worker.js", here);
  if (url.protocol !== "file:") throw new Error("there are no workers here");
  const name = "node:worker_threads";
  const threads = (await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)) as {
    Worker: new (url: URL) => NodeWorker;
  };
  return likeBrowsers(new threads.Worker(url));
}

/** A worker of Node with the three handlers of those of browsers. */
function likeBrowsers(worker: NodeWorker): NodeWorker {
  worker.on("message", (data) => worker.onmessage?.({ data } as MessageEvent));
  worker.on("messageerror", (data) => worker.onmessageerror?.({ data } as MessageEvent));
  worker.on("error", (error) => worker.onerror?.({ message: String(error) } as ErrorEvent));
  return worker;
}

/** How many workers this machine keeps busy. */
export async function hardwareConcurrency(): Promise<number> {
  const n = (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency;
  if (n) return n;
  if (typeof Worker === "function" || !import.meta.url.startsWith("file:")) return 1;
  const name = "node:os";
  const os = (await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)) as {
    availableParallelism(): number;
  };
  return os.availableParallelism();
}
