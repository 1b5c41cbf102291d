// Checks pages with the package, which any server or bundler may serve.
import { strict as assert } from "node:assert";
import { launch, openPage } from "../tests/browser/harness/chromium.mjs";

/** The scopes that can start workers. In Chromium shared and service workers cannot. */
const withWorkers = ["window", "worker"];

/** Checks the outcomes of a scope: round trips on these engines with the same bytes, and whether the CPU used workers. */
export function checkOutcomes(outcomes, engines, hasWorkers) {
  assert.ok(Array.isArray(outcomes), JSON.stringify(outcomes));
  assert.deepEqual(outcomes.map(({ engine }) => engine), engines);
  assert.ok(outcomes.every(({ isSame }) => isSame), "the content changed");
  const [first] = outcomes;
  for (const { engine, workers, frameLength, frameSum } of outcomes) {
    assert.deepEqual([frameLength, frameSum], [first.frameLength, first.frameSum], "engines differ");
    assert.equal(workers > 0, engine === "cpu" && hasWorkers, `${workers} workers`);
  }
}

async function checkPage(browser, site, gpu, scopes, { engines, inPlace }) {
  const query = new URLSearchParams({ scopes: scopes.join(","), ...(gpu === "software" ? { software: "" } : {}) });
  const page = await openPage(browser, `${site.url}?${query}`);
  await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
    throw new Error([error.message, ...page.faults].join("\n"));
  });
  const result = await page.evaluate(() => globalThis.result);
  await page.close();
  assert.equal(result.error, undefined);
  for (const scope of scopes) checkOutcomes(result[scope], engines, !inPlace && withWorkers.includes(scope));
  assert.deepEqual(page.faults, []);
}

/** Checks that exactly the required modules are fetched, at most once per scope and not by the workers of the pool. */
function checkRequests(requests, scopes, modules) {
  const fetched = requests.filter((path) => path.endsWith(".wasm")).map((path) => /(cpu|cuda|dictionary|formats|gpu|seek|snapshot)_bg/.exec(path)?.[1]);
  assert.deepEqual([...new Set(fetched)].sort(), modules, "modules fetched");
  for (const module of modules) {
    const times = fetched.filter((name) => name === module).length;
    assert.ok(times <= scopes.length, `${module} was fetched ${times} times in ${scopes.length} scopes`);
  }
}

/** Checks that reading a part of a file loads the module for that and no other. */
async function checkPart(browser, site) {
  const before = site.requests.length;
  const page = await openPage(browser, `${site.url}?part`);
  await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 });
  assert.deepEqual(await page.evaluate(() => globalThis.result), { part: "page" });
  await page.close();
  assert.deepEqual(page.faults, []);
  checkRequests(site.requests.slice(before), ["window"], ["seek"]);
}

/** The outcome of the fixture `entries`. */
export const entriesOutcome = { snapshot: true, dictionary: true, zarr: true, cuda: true };

/** Checks snapshots, dictionaries, an adapter and CUDA C in a window and a worker, and that they fetch the modules for these and no others. */
export async function checkEntries(browser, site) {
  const before = site.requests?.length ?? 0;
  const page = await openPage(browser, `${site.url}?entries`);
  await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
    throw new Error([error.message, ...page.faults].join("\n"));
  });
  assert.deepEqual(await page.evaluate(() => globalThis.result), { window: entriesOutcome, worker: entriesOutcome });
  await page.close();
  assert.deepEqual(page.faults, []);
  if (site.requests) checkRequests(site.requests.slice(before), ["window", "worker"], ["cuda", "dictionary", "formats", "snapshot"]);
}

/**
 * Checks a site with a software GPU, in the scopes `gpuScopes`, and without a GPU, in `scopes`.
 *
 * With `inline` the modules of the main entry are part of the scripts; with `inPlace` no workers can be started. `entries` is false if
 * the page has the main entry only.
 */
export async function checkSite(report, browsers, name, open, { scopes, gpuScopes = ["window"], inline = false, inPlace = false, entries = true }) {
  const scopesOf = { software: gpuScopes, none: scopes };
  const nameOf = (gpu) => `${name} [${scopesOf[gpu].join(", ")}; ${gpu}]`;
  const partName = `${name} [a part of a file]`;
  const entriesName = `${name} [other entries]`;
  if (![nameOf("software"), nameOf("none"), partName, entriesName].some((one) => report.wants(one))) return;
  const site = await open().catch((error) => error);
  for (const gpu of ["software", "none"]) {
    const run = scopesOf[gpu];
    await report.run(nameOf(gpu), async () => {
      if (site instanceof Error) throw site;
      const before = site.requests?.length ?? 0;
      const engines = gpu === "software" ? ["webgpu", "cpu"] : ["cpu"];
      await checkPage(browsers[gpu], site, gpu, run, { engines, inPlace });
      const needed = gpu === "software" ? ["cpu", "gpu", "seek"] : ["cpu", "seek"];
      if (site.requests) checkRequests(site.requests.slice(before), run, inline ? [] : needed);
    });
  }
  if (site.requests && !inline) await report.run(partName, () => checkPart(browsers.none, site));
  if (entries && !(site instanceof Error)) await report.run(entriesName, () => checkEntries(browsers.none, site));
  if (!(site instanceof Error)) await site.close();
}

/** Checks the outcome of the fixture `tensor`. */
export function checkTensorOutcome(outcome, engine) {
  assert.equal(outcome.error, undefined);
  assert.equal(outcome.engine, engine);
  assert.deepEqual(outcome.product, [7, 10, 15, 22]);
  assert.equal(outcome.code, "LENGTH_MISMATCH");
}

/** Checks a page with tensors with and without a software GPU, and that it fetches only the module for tensors. */
export async function checkTensorSite(report, browsers, name, open, query = {}) {
  const site = await open().catch((error) => error);
  for (const gpu of ["software", "none"]) {
    await report.run(`${name} [window; ${gpu}]`, async () => {
      if (site instanceof Error) throw site;
      const before = site.requests.length;
      const page = await openPage(browsers[gpu], `${site.url}?${new URLSearchParams(query)}`);
      await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
        throw new Error([error.message, ...page.faults].join("\n"));
      });
      checkTensorOutcome(await page.evaluate(() => globalThis.result), gpu === "software" ? "webgpu" : "cpu");
      await page.close();
      assert.deepEqual(page.faults, []);
      const fetched = site.requests.slice(before).filter((path) => path.endsWith(".wasm"));
      assert.ok(fetched.length === 1 && fetched[0].includes("tensor_bg"), `fetched: ${fetched}`);
    });
  }
  if (!(site instanceof Error)) await site.close();
}

/** Starts a browser with a software GPU and one without a GPU. */
export async function openBrowsers() {
  const [software, none] = await Promise.all([launch("software"), launch("none")]);
  return { software, none, close: () => Promise.all([software.close(), none.close()]) };
}
