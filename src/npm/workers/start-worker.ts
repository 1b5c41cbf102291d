import { builtin } from "../base/builtin.js";
import { isMoved, packageUrl } from "../modules/package-url.js";
import type { PoolWorker } from "./pool.js";

interface NodeWorker extends PoolWorker {
  on(type: "message" | "error" | "messageerror", listener: (value: unknown) => void): void;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** The URL of this script; undefined in bundles that are not modules. */
const here: string | undefined = import.meta.url;
const options = { type: "module", name: "pagepress" } as const;

/** Starts the package's own worker. Bundlers find its file by the literal `new Worker(new URL(..))`. Rejects where there are
 * no workers. */
export async function startWorker(): Promise<PoolWorker> {
  if (typeof Worker !== "function") return startThread();
  if (here && isMoved(here)) return new Worker(new URL("worker.js", packageUrl(new URL(here))), options);
  try {
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "pagepress" });
  } catch (error) {
    const url = permitted();
    if (!url) throw error;
    return new Worker(url, options);
  }
}

let importing: string | undefined;

/** Returns a URL that starts the worker where the page may not start its file: a script of the page's origin that imports a
 * file of another origin, under a Trusted Types policy. Undefined if the file is not known to be beside this script. */
function permitted(): string | undefined {
  const { origin, trustedTypes } = globalThis as { origin?: string; trustedTypes?: TrustedTypes };
  if (importing || !here?.startsWith("http")) return importing;
  const { href, origin: from } = new URL("./worker.js", here);
  const policy = trustedTypes?.createPolicy("pagepress", { createScriptURL: (url) => url });
  const text = `import ${JSON.stringify(href)};`;
  const url = from === origin ? href : URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return (importing = policy?.createScriptURL(url) ?? url);
}

/** Starts the worker as a thread of Node. */
async function startThread(): Promise<PoolWorker> {
  if (!here?.startsWith("file:")) throw new Error("there are no workers here");
  const { Worker: Thread } = await builtin<{ Worker: new (url: URL) => NodeWorker }>("node:worker_threads");
  return likeBrowsers(new Thread(new URL("./worker.js", here)));
}

/** Adds the three event handlers of browser workers to a worker of Node. */
function likeBrowsers(worker: NodeWorker): NodeWorker {
  worker.on("message", (data) => worker.onmessage?.({ data } as MessageEvent));
  worker.on("messageerror", (data) => worker.onmessageerror?.({ data } as MessageEvent));
  worker.on("error", (error) => worker.onerror?.({ message: String(error) } as ErrorEvent));
  return worker;
}

/** Returns the number of workers that this machine can run in parallel; 1 if it is unknown. */
export async function hardwareConcurrency(): Promise<number> {
  const n = (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency;
  if (n) return n;
  if (typeof Worker === "function" || !here?.startsWith("file:")) return 1;
  const os = await builtin<{ availableParallelism(): number }>("node:os");
  return os.availableParallelism();
}
