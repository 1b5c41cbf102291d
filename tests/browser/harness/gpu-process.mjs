// Kills the browser's GPU process during calls.
import { launch, openPage } from "./chromium.mjs";

/** Times from the start of a call to the loss of its device. */
const DELAYS_MS = [0, 3, 10, 30, 80];
/** Time after a kill within which a call must succeed again, including the restart of the GPU process. */
const RECOVERY_MS = 60_000;

/** Returns the id of the GPU process; undefined while there is none. */
async function gpuProcess(session) {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.find(({ type }) => type === "GPU")?.id;
}

/**
 * Kills the GPU process `nKills` times while the page at `url` makes calls of all kinds. Returns the number of each outcome.
 *
 * Throws if a call hangs, fails with another code than that of a lost device, or does not work again afterwards.
 */
export async function loseGpuProcess(url, nKills) {
  // By default Chromium disables WebGPU after a few crashes in a short time.
  const browser = await launch("software", ["--disable-gpu-process-crash-limit", "--disable-domain-blocking-for-3d-apis"]);
  const counts = {};
  try {
    const session = await browser.newBrowserCDPSession();
    const page = await openPage(browser, url);
    page.setDefaultTimeout(0);
    const lost = await page.evaluateHandle(() => import("/tests/browser/suite/lost.js"));
    await lost.evaluate((suite) => suite.begin());
    const names = await lost.evaluate((suite) => Object.keys(suite.calls));
    for (let n = 0; n < nKills; n += 1) {
      const name = names[n % names.length];
      const delay = DELAYS_MS[Math.floor(n / names.length + n) % DELAYS_MS.length];
      const running = lost.evaluate((suite, what) => suite.run(what, 300), name);
      running.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, delay));
      const pid = await gpuProcess(session);
      if (pid) process.kill(pid, "SIGKILL");
      const outcomes = await running;
      for (const outcome of outcomes) {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        if (!["done", "DEVICE_LOST", "BACKEND_UNAVAILABLE"].includes(outcome)) throw new Error(`${name}, kill ${n}: ${outcome}`);
      }
      await recovers(lost, name);
    }
    if (page.faults.length > 0) throw new Error(page.faults.join("\n"));
  } finally {
    await browser.close();
  }
  return counts;
}

async function recovers(lost, name) {
  const start = performance.now();
  let outcome;
  while (performance.now() - start < RECOVERY_MS) {
    [outcome] = await lost.evaluate((suite, what) => suite.run(what, 0), name);
    if (outcome === "done") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} does not work again after its device was lost: ${outcome}`);
}
