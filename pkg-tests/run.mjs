// The package as strangers use it: packed, installed in temporary folders, run in Node and in a real browser.
// Needs dist/: `npm run build`.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createServer } from "vite";
import { output, root, run } from "../scripts/build/run.mjs";
import { launch, openPage } from "../tests/browser/harness/chromium.mjs";
import { Report } from "../tests/browser/harness/report.mjs";
import { serve } from "../tests/browser/harness/server.mjs";
import { checkFiles, checkManifest, checkSizes } from "./contents.mjs";
import { installFixture, makeWorkplace, pack } from "./install.mjs";

const bin = (path) => join(root, "node_modules", path);

/** Outcomes of one scope: round trips that are right, on these engines, with the same bytes on each. */
function checkOutcomes(outcomes, engines) {
  assert.ok(Array.isArray(outcomes), String(outcomes));
  assert.deepEqual(outcomes.map(({ engine }) => engine), engines);
  assert.ok(outcomes.every(({ isSame }) => isSame), "the content changed");
  const [first] = outcomes;
  for (const { frameLength, frameSum } of outcomes) {
    assert.deepEqual([frameLength, frameSum], [first.frameLength, first.frameSum], "engines differ");
  }
}

async function checkNode(folder, tarball) {
  const place = await installFixture(folder, "node", tarball);
  checkOutcomes(JSON.parse(await output(process.execPath, [join(place, "main.mjs")])), ["cpu"]);
}

/** The types hold for strict callers, with the module resolution of Node and of bundlers. */
async function checkTypes(place, file) {
  for (const module of [["nodenext"], ["esnext", "--moduleResolution", "bundler"]]) {
    const flags = ["--strict", "--noEmit", "--exactOptionalPropertyTypes", "--lib", "es2022,dom"];
    const target = ["--target", "es2022", "--module", ...module];
    const args = [...flags, ...target, join(place, `${file}.ts`)];
    await run(process.execPath, [bin("typescript/bin/tsc"), ...args], { cwd: place });
  }
}

async function startVite(place) {
  const server = await createServer({
    root: place,
    logLevel: "error",
    configFile: false,
    cacheDir: join(place, ".vite"),
    server: { host: "127.0.0.1", port: 0, hmr: false, ws: false },
  });
  await server.listen();
  const { port } = server.httpServer.address();
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

async function buildWithVite(place) {
  const out = join(place, "built");
  await mkdir(out, { recursive: true });
  const args = ["build", place, "--outDir", out, "--base", "./", "--logLevel", "error"];
  await run(process.execPath, [bin("vite/bin/vite.js"), ...args], { cwd: place });
  return serve(out);
}

async function checkPage(url, gpu, scopes) {
  const browser = await launch(gpu);
  try {
    const page = await openPage(browser, `${url}${gpu === "software" ? "?software" : ""}`);
    await page.waitForFunction(() => globalThis.result, null, { timeout: 60_000 }).catch((error) => {
      throw new Error([error.message, ...page.faults].join("\n"));
    });
    const result = await page.evaluate(() => globalThis.result);
    assert.equal(result.error, undefined);
    const engines = gpu === "software" ? ["webgpu", "cpu"] : ["cpu"];
    for (const scope of scopes) checkOutcomes(result[scope], engines);
    assert.deepEqual(page.faults, []);
  } finally {
    await browser.close();
  }
}

/** The same page on a software GPU and without one; without one the GPU module must not be fetched. */
async function checkSite(report, name, server, scopes) {
  for (const gpu of ["software", "none"]) {
    const before = server.requests?.length ?? 0;
    await report.run(`${name} [${scopes.join(", ")}; ${gpu}]`, async () => {
      await checkPage(server.url, gpu, scopes);
      const fetched = (server.requests ?? []).slice(before).filter((path) => /gpu_bg.*\.wasm$/.test(path));
      if (gpu === "none") assert.deepEqual(fetched, [], "the GPU module was fetched without a GPU");
    });
  }
  await server.close();
}

/** Servers that render pages import the package: that loads no module and touches no global. */
async function checkImport() {
  const before = Object.keys(globalThis);
  const module = await import(pathToFileURL(join(root, "dist/index.js")).href);
  assert.deepEqual(Object.keys(module).sort(), [
    "Lz4CompressionStream",
    "Lz4DecompressionStream",
    "PAGE_STATUS",
    "PagepressError",
    "compressSync",
    "createCompressor",
    "decompressSync",
    "init",
    "openFrame",
  ]);
  assert.deepEqual(Object.keys(globalThis), before);
}

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist/ is missing; run: npm run build");
  const report = new Report();
  const { folder, remove } = await makeWorkplace();
  try {
    const { tarball, files } = await pack(folder);
    await report.run("contents of the tarball", () => checkFiles(files));
    await report.run("manifest", checkManifest);
    await report.run("sizes", checkSizes);
    await report.run("publint", () => run(process.execPath, [bin("publint/src/cli.js"), "--strict", "--pack", "false"]));
    const types = await installFixture(folder, "types", tarball);
    await report.run("types", () => checkTypes(types, "main"));
    await report.run("types, with those of WebGPU", async () => {
      await cp(bin("@webgpu/types"), join(types, "node_modules/@webgpu/types"), { recursive: true });
      await checkTypes(types, "device");
    });
    await report.run("Node", () => checkNode(folder, tarball));
    await report.run("import has no side effect", () => checkImport());
    const plain = await installFixture(folder, "plain", tarball);
    await checkSite(report, "plain page with an import map", await serve(plain), ["window"]);
    const vite = await installFixture(folder, "vite", tarball);
    await checkSite(report, "Vite, development", await startVite(vite), ["window", "worker"]);
    await checkSite(report, "Vite, build", await buildWithVite(vite), ["window", "worker"]);
  } finally {
    await remove();
  }
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
