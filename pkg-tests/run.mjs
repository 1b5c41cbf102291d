// Tests the packed package in temporary folders, as its users install it: in Node, Deno, Bun and Chromium.
//
// Needs dist/: `npm run build`. An argument selects the cases whose line contains it.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, run } from "../scripts/build/run.mjs";
import { Report } from "../tests/browser/harness/report.mjs";
import { checkCommand } from "./command.mjs";
import { checkFiles, checkManifest, checkModules, checkRequests, checkSizes } from "./contents.mjs";
import { installFixture, makeWorkplace, pack } from "./install.mjs";
import { checkSite, checkTensorSite, openBrowsers } from "./pages.mjs";
import * as places from "./places.mjs";
import { checkRuntimes, checkTensorRuntimes } from "./runtimes.mjs";
import * as sites from "./sites.mjs";

const bin = (path) => join(root, "node_modules", path);
const tool = (path, ...args) => run(process.execPath, [bin(path), ...args]);

/** Returns a function that calls `make` once and always returns its result. */
function once(make) {
  let made;
  return () => (made ??= make());
}

/** Compiles a file with strict options, with the module resolution of Node and of bundlers. */
async function checkTypes(place, file) {
  for (const module of [["nodenext"], ["esnext", "--moduleResolution", "bundler"]]) {
    const flags = ["--strict", "--noEmit", "--exactOptionalPropertyTypes", "--lib", "es2022,dom"];
    const target = ["--target", "es2022", "--module", ...module];
    const args = [...flags, ...target, join(place, `${file}.ts`)];
    await run(process.execPath, [bin("typescript/bin/tsc"), ...args], { cwd: place });
  }
}

/** Compiles a file with the types of Node and without those of browsers, checking all declaration files. */
async function checkNodeTypes(place) {
  for (const name of ["@types/node", "undici-types"]) await cp(bin(name), join(place, "node_modules", name), { recursive: true });
  const flags = ["--strict", "--noEmit", "--skipLibCheck", "false", "--lib", "es2022", "--types", "node"];
  const target = ["--target", "es2022", "--module", "nodenext"];
  await run(process.execPath, [bin("typescript/bin/tsc"), ...flags, ...target, join(place, "node.ts")], { cwd: place });
}

/** Checks the exports, and that an import alone, as in server-side rendering, changes no globals. */
async function checkImport() {
  const before = Object.keys(globalThis);
  const module = await import(pathToFileURL(join(root, "dist/index.js")).href);
  const streams = ["Lz4CompressionStream", "Lz4DecompressionStream"];
  const calls = ["compress", "compressSync", "configure", "countIdenticalPages", "createCompressor", "decompress"];
  const functions = [...calls, "decompressSync", "init", "openFrame", "timingOf"];
  assert.deepEqual(Object.keys(module).sort(), [...streams, "PAGE_STATUS", "PagepressError", ...functions]);
  const inline = await import(pathToFileURL(join(root, "dist/inline.js")).href);
  assert.equal(inline.createCompressor, module.createCompressor);
  const tensors = await import(pathToFileURL(join(root, "dist/tensor.js")).href);
  const classes = ["BufferId", "GpuBackend", "GpuCommandBatch", "GpuDevice", "GpuKernel", "GpuTensor", "WgslForwardPass"];
  assert.deepEqual(Object.keys(tensors).sort(), [...classes, "PagepressError"].sort());
  assert.equal(tensors.PagepressError, module.PagepressError);
  assert.deepEqual(Object.keys(globalThis), before);
}

async function checkPackage(report, tarball, files) {
  await report.run("contents of the tarball", () => checkFiles(files));
  await report.run("manifest", checkManifest);
  await report.run("modules", checkModules);
  await report.run("sizes", checkSizes);
  await report.run("requests of a page", checkRequests);
  await report.run("publint", () => tool("publint/src/cli.js", "--strict", "--pack", "false"));
  // The worker is an ES module only, and wasm files have no types.
  const wasm = ["./cpu.wasm", "./cuda.wasm", "./dictionary.wasm", "./formats.wasm", "./gpu.wasm", "./seek.wasm", "./snapshot.wasm", "./tensor.wasm"];
  const exceptions = ["--ignore-rules", "cjs-resolves-to-esm", "--exclude-entrypoints", ...wasm];
  await report.run("types resolve in all module systems", () => tool("@arethetypeswrong/cli/dist/index.js", tarball, ...exceptions));
  await report.run("import has no side effect", checkImport);
}

async function checkConsumers(report, folder, tarball) {
  const types = await installFixture(folder, "types", tarball);
  await report.run("types", () => checkTypes(types, "main"));
  await report.run("types of tensors", () => checkTypes(types, "tensor"));
  await report.run("types, with those of WebGPU", async () => {
    await cp(bin("@webgpu/types"), join(types, "node_modules/@webgpu/types"), { recursive: true });
    await checkTypes(types, "device");
    await checkTypes(types, "tensor");
  });
  await report.run("types in Node, without those of browsers", () => checkNodeTypes(types));
  const node = await installFixture(folder, "node", tarball);
  await checkRuntimes(report, node);
  await checkCommand(report, node);
  await checkTensorRuntimes(report, await installFixture(folder, "tensor", tarball));
  await places.checkCommonJs(report, join(folder, "commonjs"), tarball);
}

/** Tests Next.js. The folder is in the project, where Next.js and React are installed. */
async function checkNext(report, browsers, tarball) {
  await mkdir(join(root, "target"), { recursive: true });
  const { folder, remove } = await makeWorkplace(join(root, "target"));
  try {
    const next = await installFixture(folder, "next", tarball);
    const open = once(() => sites.buildWithNext(next));
    await report.run("Next.js, on the server", async () => {
      const body = await readFile(join(next, "sample.txt"));
      const answer = await fetch(new URL("server", (await open()).url), { method: "POST", body });
      assert.deepEqual(await answer.json(), { engine: "cpu", isSame: true });
    });
    await checkSite(report, browsers, "Next.js", open, { scopes: ["window", "worker"] });
  } finally {
    await remove();
  }
}

async function checkPages(report, folder, tarball) {
  const browsers = await openBrowsers();
  const fixture = (name, entry) => installFixture(folder, name, tarball, entry);
  const check = (...args) => checkSite(report, browsers, ...args);
  const workers = ["window", "worker", "shared"];
  try {
    const map = await fixture("import-map");
    await check("plain page with an import map", () => sites.servePlain(map), { scopes: ["window"], entries: false });
    const plain = await fixture("plain", "./node_modules/pagepress/dist/index.js");
    const all = { scopes: [...workers, "service"], gpuScopes: [...workers, "service"] };
    await check("plain page, strict policy", () => sites.serveStrict(plain), all);
    await places.checkTrustedTypes(report, browsers, plain);
    await places.checkOtherOrigin(report, browsers, join(folder, "other-origin"), tarball);
    await places.checkFiles(report, join(folder, "file"), tarball);
    const vite = await fixture("vite");
    await check("Vite, development", () => sites.startVite(vite), { scopes: workers });
    await check("Vite, build", () => sites.buildWithVite(vite), { scopes: workers });
    const webpack = await fixture("webpack");
    await check("webpack", () => sites.buildWithWebpack(webpack), { scopes: workers });
    const rollup = await fixture("rollup");
    await check("Rollup", () => sites.buildWithRollup(rollup), { scopes: workers });
    const esbuild = await fixture("esbuild", "pagepress/inline");
    const inline = { scopes: [...workers, "service"], gpuScopes: ["window", "service"], inline: true };
    await check("esbuild, inline", () => sites.buildWithEsbuild(esbuild), inline);
    await checkNext(report, browsers, tarball);
    const tensor = await fixture("tensor");
    await checkTensorSite(report, browsers, "tensors, Vite, build", () => sites.buildWithVite(tensor));
    const query = { module: "tensor_bg.wasm" };
    await checkTensorSite(report, browsers, "tensors, esbuild", () => sites.buildTensorsWithEsbuild(tensor), query);
  } finally {
    await browsers.close();
  }
}

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist/ is missing; run: npm run build");
  const report = new Report(process.argv[2]);
  const { folder, remove } = await makeWorkplace();
  try {
    const { tarball, files } = await pack(folder);
    await checkPackage(report, tarball, files);
    await checkConsumers(report, folder, tarball);
    await checkPages(report, folder, tarball);
  } finally {
    await remove();
  }
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
