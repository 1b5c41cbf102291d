// What the pages of a browser take of the machine's memory. Linux only, like the rest of `npm test`.
import { readdir, readFile } from "node:fs/promises";

const SAMPLE_MS = 20;

async function field(pid, file, pattern) {
  const text = await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  return pattern.exec(text)?.[1];
}

/** Process ids of the pages that descend from this process. */
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

/** Resident bytes of the largest page. */
async function residentBytes(pids) {
  const sizes = await Promise.all(pids.map((pid) => field(pid, "status", /^VmRSS:\s+(\d+) kB/m)));
  return 1024 * Math.max(0, ...sizes.map((size) => Number(size ?? 0)));
}

/** Runs `work` and gives `{ value, before, peak }`: resident bytes of the largest page, sampled all along. */
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

/** Resident bytes of the largest page now. */
export async function residentBytesOfPages() {
  return residentBytes(await renderers());
}
