// Tests the package in Chromium: in a window and a dedicated worker, with a software GPU and without a GPU.
//
// Needs dist/: `npm run build`. An argument selects the cases whose line contains it. PAGEPRESS_STREAM_BYTES is the length
// of the long stream, PAGEPRESS_GPU_KILLS the number of times that the GPU process is killed, PAGEPRESS_TAB_CLOSES the
// number of times that a tab is closed during a save at each place.
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness/chromium.mjs";
import { buildFaults } from "./harness/faults.mjs";
import { Late } from "./harness/limit.mjs";
import { loseGpuProcess } from "./harness/gpu-process.mjs";
import { watchMemory } from "./harness/memory.mjs";
import { Report } from "./harness/report.mjs";
import { serve } from "./harness/server.mjs";
import { closeTabs, fillStorage, saveFromTwoTabs } from "./harness/store-crash.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const STREAM_BYTES = Number(process.env.PAGEPRESS_STREAM_BYTES ?? 256e6);
const N_GPU_KILLS = Number(process.env.PAGEPRESS_GPU_KILLS ?? 5);
const N_TAB_CLOSES = Number(process.env.PAGEPRESS_TAB_CLOSES ?? 4);
/** Maximum resident memory of the renderer process during the long stream. */
const STREAM_MEMORY_BYTES = 300 * 2 ** 20;

/** Suites for windows with a GPU, in two lists that run side by side, for workers with a GPU, and for both without one. */
const inWindows = ["shaders", "crossing", "traps", "panics", "tensor", "resident", "conformance"];
const moreInWindows = ["behaviour", "cpu", "cuda", "auto", "dictionary-with-gpu", "snapshots-with-gpu", "streams-with-gpu"];
const inWorkers = [
  ...["behaviour", "cpu", "cuda", "auto", "snapshots-with-gpu"],
  ...["conformance-in-workers", "dictionary-in-workers", "resident-in-workers", "streams-in-workers", "tensor-in-workers"],
];
const withoutGpu = ["cpu-without-gpu", "workers", "calls", "dictionary", "files", "streams", "pooled-streams", "access", "cuda-without-gpu", "snapshots", "snapshot-store", "tensor-without-gpu"];

/** Runs in lists that take about as long and run side by side, each run in a browser of its own: SwiftShader compiles kernels on one core. */
const lanes = [
  [{ gpu: "software", scope: "window", suites: inWindows }],
  [
    { gpu: "software", scope: "window", suites: moreInWindows },
    { gpu: "software", scope: "worker", suites: inWorkers },
    { gpu: "none", scope: "window", suites: withoutGpu },
    { gpu: "none", scope: "worker", suites: withoutGpu },
  ],
];

async function runSuite(browser, report, { gpu, scope, suite, url, shaders }) {
  const open = async () => {
    const page = await openPage(browser, `${url}tests/browser/index.html`);
    await page.waitForFunction(() => globalThis.tests);
    return page;
  };
  let page = await open();
  const names = await page.evaluate(([of, files]) => globalThis.tests.namesOf(of, files), [suite, shaders]);
  for (const name of names) {
    const line = `${suite} / ${name} [${scope}, ${gpu}]`;
    if (!line.includes(process.argv[2] ?? "")) continue;
    const failure = await report.run(line, async () => {
      const call = [scope, { suite, name, shaders }];
      const error = await page.evaluate(([where, what]) => globalThis.tests[where](what), call);
      if (error !== null) throw error;
      if (page.faults.length > 0) throw new Error(page.faults.splice(0).join("\n"));
    });
    if (failure instanceof Late) {
      // Opens a new page, since the case that hangs could interfere with later ones.
      await page.close();
      page = await open();
    }
  }
  await page.close();
}

/** Tests that the memory of a page is bounded while a long stream passes. */
async function runLongStream(report, url) {
  const line = "long stream [window, none]";
  if (!line.includes(process.argv[2] ?? "")) return;
  const browser = await launch("none");
  const page = await openPage(browser, `${url}tests/browser/index.html`);
  page.setDefaultTimeout(0);
  await report.run(line, async () => {
    const stream = (bytes) => import("/tests/browser/suite/long-stream.js").then(({ run }) => run(bytes));
    const { value, before, peak } = await watchMemory(() => page.evaluate(stream, STREAM_BYTES));
    const mb = (bytes) => Math.round(bytes / 1e6);
    const speed = Math.round(value.bytes / value.ms / 1000);
    console.log(
      `       ${mb(value.bytes)} MB through ${mb(value.compressed)} MB at ${speed} MB/s; ` +
        `the page's memory: ${mb(before)} MB before, ${mb(peak)} MB at most`,
    );
    if (peak > STREAM_MEMORY_BYTES) throw new Error("more than 300 MiB");
  }, 600 + STREAM_BYTES / 1e6);
  await browser.close();
}

/** Tests calls during which the GPU process is killed. */
async function runDeviceLoss(report, url) {
  const line = `the GPU process killed ${N_GPU_KILLS} times [window, software]`;
  if (!line.includes(process.argv[2] ?? "")) return;
  await report.run(line, async () => {
    const counts = await loseGpuProcess(`${url}tests/browser/index.html`, N_GPU_KILLS);
    console.log(`       ${JSON.stringify(counts)}`);
  }, 600 + 30 * N_GPU_KILLS);
}

/** Tests stores of snapshots whose tab is closed or whose storage is full. */
async function runStoreCrashes(report, url) {
  const page = `${url}tests/browser/index.html`;
  const closed = `tabs closed during ${N_TAB_CLOSES} saves at each place [window, worker, none]`;
  if (closed.includes(process.argv[2] ?? "")) {
    await report.run(closed, async () => {
      console.log(`       ${await closeTabs(page, N_TAB_CLOSES)} versions are whole`);
    }, 600 + 30 * N_TAB_CLOSES);
  }
  const two = "snapshots saved from two tabs at once [window, worker, none]";
  if (two.includes(process.argv[2] ?? "")) await report.run(two, () => saveFromTwoTabs(page));
  const full = "stores of snapshots on full storage [window, worker, none]";
  if (full.includes(process.argv[2] ?? "")) {
    await report.run(full, async () => {
      for (const message of await fillStorage(page)) console.log(`       ${message}`);
    });
  }
}

/** Returns the names of the shaders that browsers run: those that need neither matrix units, which WebGPU lacks, nor halves. */
async function shadersOfBrowsers() {
  const folder = join(root, "shaders");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".wgsl"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return names.filter((_, i) => !/^enable (wgpu_cooperative_matrix|f16);/m.test(texts[i]));
}

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist/ is missing; run: npm run build");
  const shaders = await shadersOfBrowsers();
  buildFaults();
  const report = new Report();
  const server = await serve(root);
  const runLane = async (runs) => {
    for (const { gpu, scope, suites } of runs) {
      const browser = await launch(gpu);
      for (const suite of suites) await runSuite(browser, report, { gpu, scope, suite, url: server.url, shaders });
      await browser.close();
    }
  };
  await Promise.all(lanes.map(runLane));
  await runDeviceLoss(report, server.url);
  await runStoreCrashes(report, server.url);
  await runLongStream(report, server.url);
  await server.close();
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
