// The worker that runs programs of the playground. Its policy allows `eval`, which that of the page does not; the server
// recognises it by its name. A program may come with a link, so it gets no storage of this site: it could otherwise
// replace the page in the cache of the service worker.
import { serve } from "../rpc/serve";
import type { PlaygroundCalls } from "./calls";
import { runJavaScript } from "./javascript";
import { runKernel } from "./kernel";

for (const name of ["caches", "indexedDB", "BroadcastChannel", "SharedWorker"]) remove(self, name);
remove(navigator, "storage");
remove(navigator, "locks");

/** Removes a property of an object and of all its prototypes. */
function remove(from: object, name: string): void {
  for (let at: object | null = from; at; at = Object.getPrototypeOf(at) as object | null) Reflect.deleteProperty(at, name);
}

serve<PlaygroundCalls>({ javascript: runJavaScript, wgsl: runKernel });
