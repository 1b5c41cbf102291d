// Builds the page, serves it and drives it in Chromium as a visitor would: without a GPU and with a software GPU.
//
// Checks the page's output with the `lz4` command. Needs the package in `dist`. `node www/test.mjs WORD` runs only the
// parts whose names contain the word. `node www/test.mjs hardware` uses the GPU of this machine. With --built, the page in
// `www/dist` is tested as it is.
import path from "node:path";
import { strict as assert } from "node:assert";
import { Remedy, exitWith, root, run } from "../scripts/process.mjs";
import { serve } from "../scripts/serve.mjs";
import { launch } from "../tests/browser/harness/chromium.mjs";
import { testBench, testFiles, testInputs } from "./test/compress.mjs";
import { testKernels, testRooms } from "./test/rooms.mjs";
import { check, choose, download, finding, finish, measureOnly, open, openTab, removeFiles, writeSample } from "./test/harness.mjs";
import { testCuda, testCudaRuns, testCudaWithoutGpu } from "./test/cuda.mjs";
import { testFirstScreen } from "./test/first-screen.mjs";
import { testJobs } from "./test/jobs.mjs";
import { testLarge } from "./test/large.mjs";
import { testInspect, testInspector, testLearn, testLoss, testVerify } from "./test/inspect.mjs";
import { testLooks } from "./test/looks.mjs";
import { testModules } from "./test/modules.mjs";
import { testGpu } from "./test/gpu.mjs";
import {
  testAccessibility,
  testBudgets,
  testKeyboard,
  testOffline,
  testPhone,
  testThrottled,
  testWithoutHttps,
  testWithoutWebGpu,
} from "./test/states.mjs";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

async function without(url) {
  const browser = await launch("none");
  try {
    const context = await browser.newContext();
    const page = await open(context, url);
    await testFiles("no GPU", page, "cpu");
    await testInputs(page);
    await testBench(page);
    await testInspect("no GPU", page);
    await testInspector(page);
    await testVerify("no GPU", page);
    await testLoss(page, false);
    await testGpu("no GPU", page);
    await testCuda("no GPU", page);
    await testCudaWithoutGpu("no GPU", page);
    await testLearn(page);
    await testAccessibility(page);
    await check("no GPU: backend=webgpu shows that no GPU is available", async () => {
      const forced = await open(context, `${url}?backend=webgpu`);
      assert.equal((await forced.evaluate(() => window.__backend)).code, "BACKEND_UNAVAILABLE");
      assert.ok((await forced.locator("#badge").innerText()).includes("BACKEND_UNAVAILABLE"));
      await forced.close();
    });
    await noFaults("no GPU", page);
  } finally {
    await browser.close();
  }
}

async function states(url) {
  const browser = await launch("none");
  try {
    const context = await browser.newContext();
    await testBudgets(browser, url);
    await testLooks(browser, url);
    await testKeyboard(context, url);
    await testThrottled(context, url);
    await testPhone(browser, url);
    await testWithoutWebGpu(browser, url);
    await testWithoutHttps(url);
    await testOffline(browser, url);
    await testLarge(context, url);
  } finally {
    await browser.close();
  }
}

async function firstScreen(url) {
  const browser = await launch("none");
  try {
    await testFirstScreen(browser, url, gzipped);
    await testJobs(await browser.newContext(), url);
  } finally {
    await browser.close();
  }
}

/** Returns the bytes of a file of the page after gzip. */
const gzipped = (name) => gzipSync(readFileSync(path.join(root, "www/dist", name)), { level: 9 }).length;

async function rooms(url) {
  const browser = await launch("none");
  try {
    await testRooms(await browser.newContext(), url);
  } finally {
    await browser.close();
  }
}

/** Tests that need a GPU. `query` selects it. */
async function onGpu(label, page, context, query) {
  await testFiles(label, page, "webgpu");
  await testInspect(label, page);
  await testLoss(page, true);
  await testGpu(label, page);
  await testCuda(label, page);
  await testCudaRuns(label, page);
  await testKernels(context, query);

  await check(`${label}: a race shows its stages and the adapter`, async () => {
    await measureOnly(page, "gpu");
    writeSample("stages.bin", 200_000);
    const { engines } = await finding(page, "bench", () => choose(page, "stages.bin"));
    assert.ok(engines.gpu.verified && engines.gpu.timing.compress.totalNs > 0, JSON.stringify(engines.gpu));
    assert.equal(engines.gpu.detail.includes("software"), label === "software GPU", engines.gpu.detail);
    await openTab(page, "inspect");
    const stages = await page.locator("#stages").innerText();
    for (const word of ["Upload", "Kernels", "Read back", "Whole call"]) assert.ok(stages.includes(word), stages);
  });

  await check(`${label}: GPU and CPU write the same file at level Fast`, async () => {
    const files = {};
    for (const backend of ["webgpu", "cpu"]) {
      await page.click("#tab-compress");
      await measureOnly(page);
      await page.selectOption("#backend", backend);
      await page.selectOption("#level", "fast");
      await page.waitForFunction((wanted) => window.__backend?.engine === wanted, backend);
      const file = await finding(page, "file", () => choose(page, "dropped.bin"));
      assert.equal(file.engine, backend);
      files[backend] = readFileSync(await download(page, "dropped.bin.lz4"));
    }
    assert.ok(files.webgpu.equals(files.cpu));
    await page.selectOption("#level", "auto");
  });
}

async function onSoftwareGpu(url) {
  const browser = await launch("software");
  try {
    const context = await browser.newContext();
    const query = `${url}?allow-software&backend=webgpu`;
    const page = await open(context, query);
    await onGpu("software GPU", page, context, query);

    await check("automatic mode rejects a software GPU and gives the reason", async () => {
      const one = await open(context, url);
      const backend = await one.evaluate(() => window.__backend);
      assert.equal(backend.engine, "cpu");
      assert.match(backend.rejected[0].reason, /software/);
      await one.close();
    });
    await noFaults("software GPU", page);
  } finally {
    await browser.close();
  }
}

async function onHardwareGpu(url) {
  const browser = await launch("hardware");
  try {
    const context = await browser.newContext();
    const query = `${url}?backend=webgpu`;
    const page = await open(context, query);
    await check("hardware GPU: the badge names the adapter", async () => {
      const { engine, adapter, software } = await page.evaluate(() => window.__backend);
      console.log(`       ${adapter}`);
      assert.deepEqual([engine, software], ["webgpu", false]);
      assert.ok((await page.locator("#badge").innerText()).includes(adapter));
    });
    await onGpu("hardware GPU", page, context, query);
    await noFaults("hardware GPU", page);
  } finally {
    await browser.close();
  }
}

const noFaults = (label, page) =>
  check(`${label}: the browser reports no errors, and no request goes to another host`, () => assert.deepEqual(page.faults, []));

await exitWith(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { built: { type: "boolean" } } });
  if (!values.built) {
    const { code } = await run("node", ["scripts/page.mjs"]);
    if (code !== 0) throw new Remedy("The page does not build. It needs the package: node scripts/build.mjs");
  }
  const server = await serve(path.join(root, "www", "dist"));
  const [wanted = ""] = positionals;
  const parts = { modules: testModules, first: firstScreen, rooms, without, states, software: onSoftwareGpu };
  const chosen = wanted === "hardware" ? [onHardwareGpu] : Object.keys(parts).filter((name) => name.includes(wanted)).map((name) => parts[name]);
  try {
    for (const part of chosen) await part(server.url);
  } finally {
    await server.close();
    removeFiles();
  }
  finish();
});
