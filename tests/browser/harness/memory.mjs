// Measures the resident memory of the browser's renderer processes. Linux only, like the rest of `npm test`.
import { readdir, readFile } from "node:fs/promises";

const SAMPLE_MS = 20;

async function field(pid, file, pattern) {
  const text = await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  return pattern.exec(text)?.[1];
}

/** Returns the ids of the renderer processes that descend from this process. */
async function renderers() {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map();
  for (const pid of pids) parents.set(pid, Number(await field(pid, "status", /^PPid:\s+(\d+)/m)));
  const isOurs = (pid) => pid === process.pid || (parents.get(pid) > 1 && isOurs(parents.get(pid)));
  const found = [];
  for (const pid of pids.filter(isOurs)) {
    if (await field(pid, "cmdline", /(--type=renderer)/)) found.push(pid);
  }
  return found;
}

/** Returns the resident bytes of the largest of these processes. */
async function residentBytes(pids) {
  const sizes = await Promise.all(pids.map((pid) => field(pid, "status", /^VmRSS:\s+(\d+) kB/m)));
  return 1024 * Math.max(0, ...sizes.map((size) => Number(size ?? 0)));
}

/** Runs `work` and returns `{ value, before, peak }`, with resident bytes of the largest renderer, sampled every 20 ms. */
export async function watchMemory(work) {
  const pids = await renderers();
  const before = await residentBytes(pids);
  let peak = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      peak = Math.max(peak, await residentBytes(pids));
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  const value = await work().finally(() => (isDone = true));
  await watching;
  return { value, before, peak };
}

/** Returns the current resident bytes of the largest renderer. */
export async function residentBytesOfPages() {
  return residentBytes(await renderers());
}
