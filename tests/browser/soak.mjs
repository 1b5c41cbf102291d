// Runs mixed calls for a long time in Node and in Chromium (window and worker, with and without a software GPU).
//
// `node tests/browser/soak.mjs SECONDS [PART OF A NAME]`, SECONDS for each host. Needs dist/: `npm run build`. At the end
// memory must be within 5 % of that after a tenth of the time, and no timer, worker or thread may be left.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness/chromium.mjs";
import { residentBytesOfPages } from "./harness/memory.mjs";
import { Report } from "./harness/report.mjs";
import { serve } from "./harness/server.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const seconds = Number(process.argv[2] ?? 60);
/** Duration until the first measurement: V8 compiles hot code for minutes. */
const untilSettled = Math.min(Math.max(60, seconds / 10), seconds / 2);
/** Allowed growth. Short runs measure the first time before the largest content of each kind has occurred. */
const tolerance = seconds < 600 ? 1.25 : 1.05;
/** Growth below this is noise of the garbage collector. */
const NOISE_BYTES = 8 * 2 ** 20;

/** Number of memory measurements of which the smallest counts. */
const N_MEASUREMENTS = 8;
/** Number of stages, after each of which memory is measured. */
const N_STAGES = 6;

const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Fails if sizes at the end exceed the settled ones by more than the tolerance, or if numbers exceed them at all. */
function compare(settled, end) {
  for (const [name, before] of Object.entries(settled.sizes)) {
    const after = end.sizes[name];
    console.log(`       ${name}: ${mb(before)} after ${untilSettled} s, ${mb(after)} at the end`);
    if (after > before * tolerance + NOISE_BYTES) throw new Error(`${name} grew from ${mb(before)} to ${mb(after)}`);
  }
  for (const [name, before] of Object.entries(settled.numbers)) {
    if (end.numbers[name] > before) throw new Error(`${name}: ${before}, at the end ${end.numbers[name]}`);
  }
}

/** Returns the minimum of several measurements, since collectors and allocators release memory at arbitrary times. */
async function calmest(measure) {
  const least = await measure();
  for (let i = 1; i < N_MEASUREMENTS; i += 1) {
    const { sizes, numbers } = await measure();
    for (const [of, found] of [[least.sizes, sizes], [least.numbers, numbers]]) {
      for (const name of Object.keys(found)) of[name] = Math.min(of[name], found[name]);
    }
  }
  return least;
}

/** Makes calls, measures after they have settled and after each stage, and compares. */
async function watch(soak, measure) {
  await soak(untilSettled);
  const settled = await calmest(measure);
  let found = settled;
  for (let i = 1; i <= N_STAGES; i += 1) {
    const calls = await soak((seconds - untilSettled) / N_STAGES);
    found = await calmest(measure);
    const sizes = Object.entries(found.sizes).map(([name, bytes]) => `${name} ${mb(bytes)}`);
    console.log(`       stage ${i}: ${sizes.join(", ")}; calls: ${JSON.stringify(calls)}`);
  }
  compare(settled, found);
}

async function inNode() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { begin, rest, soak } = await import("./suite/soak.js");
  const state = await begin({ backend: "cpu" });
  const measure = async () => {
    await rest(state);
    collect();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().filter((name) => name !== "Timeout").length;
    const numbers = { handles, threads: existsSync("/proc/self/task") ? readdirSync("/proc/self/task").length : 0 };
    return { sizes: { heap: heapUsed, "array buffers": arrayBuffers, resident: rss }, numbers };
  };
  await watch((time) => soak(state, time), measure);
  await state.compressor.dispose();
}

async function inChromium(url, gpu, scope) {
  // Exposed, since the debugging session of the page cannot collect the garbage of a worker.
  const browser = await launch(gpu, ["--js-flags=--expose-gc"]);
  try {
    const page = await openPage(browser, `${url}tests/browser/soak.html`);
    page.setDefaultTimeout(0);
    const session = await page.context().newCDPSession(page);
    const backend = gpu === "none" ? { backend: "cpu" } : { backend: "webgpu", allowSoftware: true };
    await page.evaluate(([where, options]) => globalThis.soak.begin(where, options), [scope, backend]);
    const measure = async () => {
      await page.evaluate(() => globalThis.soak.rest());
      // Busy workers end after their current task.
      const own = scope === "worker" ? 1 : 0;
      for (let i = 0; i < 60 && page.workers().length > own; i += 1) await new Promise((resolve) => setTimeout(resolve, 1000));
      await session.send("HeapProfiler.collectGarbage");
      await session.send("HeapProfiler.collectGarbage");
      const { usedSize } = await session.send("Runtime.getHeapUsage");
      const workers = page.workers().length;
      return { sizes: { heap: usedSize, resident: await residentBytesOfPages() }, numbers: { workers } };
    };
    await watch((time) => page.evaluate((length) => globalThis.soak.run(length), time), measure);
    if (page.faults.length > 0) throw new Error(page.faults.join("\n"));
  } finally {
    await browser.close();
  }
}

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist/ is missing; run: npm run build");
  const report = new Report(process.argv[3]);
  const limit = 600 + 2 * seconds;
  await report.run("mixed calls [Node]", inNode, limit);
  const server = await serve(root);
  for (const [gpu, scope] of [["none", "window"], ["none", "worker"], ["software", "window"]]) {
    await report.run(`mixed calls [Chromium, ${scope}, ${gpu}]`, () => inChromium(server.url, gpu, scope), limit);
  }
  await server.close();
  report.finish();
  // A leaked worker, which was counted above, would keep the process alive.
  process.exit();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
