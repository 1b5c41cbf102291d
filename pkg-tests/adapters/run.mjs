// Tests the adapters with the libraries that they are for, on files that Python's libraries write, in Node and in Chromium;
// Python reads what the libraries write. Needs dist/: `npm run build`, and the network once. An argument selects the cases
// whose line contains it.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { adapters } from "../../scripts/build/javascript.mjs";
import { output, root, run } from "../../scripts/build/run.mjs";
import { exitWith, Remedy } from "../../scripts/process.mjs";
import { launch, openPage } from "../../tests/browser/harness/chromium.mjs";
import { Report } from "../../tests/browser/harness/report.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";
import { makeWorkplace, pack } from "../install.mjs";
import { buildWithVite, startVite } from "../sites.mjs";
import { installTree } from "../matrix/install.mjs";
import { installPython } from "./python.mjs";

const here = join(root, "pkg-tests/adapters");
const scripts = ["arrays.js", "cases.js", "content.js", "page.js", "run-all.js", "tables.js", "types.ts", "window.js", "worker.js"];

/** Copies the files of the packed package, and the scripts of the test, to the folder of the libraries. */
async function prepare(tree) {
  const { folder, remove } = await makeWorkplace();
  const { files } = await pack(folder).finally(remove);
  const place = join(tree, "node_modules/pagepress");
  await rm(place, { recursive: true, force: true });
  for (const file of files) await cp(join(root, file), join(place, file));
  for (const file of scripts) await cp(join(here, file), join(tree, file));
}

async function writeFiles(python, tree) {
  const folder = join(tree, "files");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run(python, [join(here, "write.py"), folder]);
  return folder;
}

/** Checks the adapters in Node; the files that they write go to `written`. */
async function checkNode(report, tree, folder, written) {
  await rm(written, { recursive: true, force: true });
  const files = JSON.parse(await readFile(join(folder, "files.json"), "utf8"));
  const read = async (path) => new Uint8Array(await readFile(join(folder, path)));
  const write = async (path, bytes) => {
    await mkdir(dirname(join(written, path)), { recursive: true });
    await writeFile(join(written, path), bytes);
  };
  const { cases } = await import(pathToFileURL(join(tree, "cases.js")).href);
  for (const [name, work] of Object.entries(cases)) await report.run(`Node / ${name}`, () => work({ files, read, write }));
}

/** Checks that the CommonJS form of each adapter has the same exports. */
async function checkCommonJs(tree) {
  const require = createRequire(join(tree, "index.js"));
  for (const name of adapters) {
    const place = join(tree, "node_modules/pagepress/dist");
    const module = await import(pathToFileURL(join(place, `adapters/${name}.js`)).href);
    const script = require(join(place, `commonjs/adapters/${name}.js`));
    assert.deepEqual(Object.keys(script).sort(), Object.keys(module).sort(), name);
  }
  const { lz4Frame } = require(join(tree, "node_modules/pagepress/dist/commonjs/adapters/arrow.js"));
  const { decode, encode } = await lz4Frame();
  assert.deepEqual(decode(encode(Buffer.from("pages"))), new Uint8Array(Buffer.from("pages")));
}

function checkTypes(tree) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const flags = ["--strict", "--noEmit", "--skipLibCheck", "--lib", "es2023,dom", "--target", "es2022", "--module", "nodenext"];
  return run(process.execPath, [tsc, ...flags, join(tree, "types.ts")], { cwd: tree });
}

/** Bundles the libraries and the cases. The package stays apart, as files of the server. */
async function bundle(tree) {
  const apart = {
    name: "apart",
    setup({ onResolve }) {
      onResolve({ filter: /^pagepress/ }, ({ path }) => {
        const name = path === "pagepress" ? "index" : path.replace("pagepress/", "");
        return { path: `/node_modules/pagepress/dist/${name}.js`, external: true };
      });
    },
  };
  const options = { bundle: true, format: "esm", target: "es2022", platform: "browser", logLevel: "error", plugins: [apart] };
  for (const name of ["page", "worker"]) {
    await build({ ...options, absWorkingDir: tree, entryPoints: [join(tree, `${name}.js`)], outfile: join(tree, `${name}-bundle.js`) });
  }
  await writeFile(join(tree, "index.html"), '<!doctype html><title>adapters</title><script type="module" src="page-bundle.js"></script>\n');
}

async function checkPages(report, tree) {
  await bundle(tree);
  const [site, browser] = [await serve(tree), await launch("none")];
  try {
    const page = await openPage(browser, site.url);
    await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
      throw new Error([error.message, ...page.faults].join("\n"));
    });
    const result = await page.evaluate(() => globalThis.result);
    for (const [scope, cases] of Object.entries(result)) {
      for (const [name, error] of Object.entries(cases)) await report.run(`Chromium, ${scope} / ${name}`, async () => assert.equal(error, null));
    }
    const fetched = new Set(site.requests.map((path) => /(\w+)_bg\.wasm$/.exec(path)?.[1]).filter(Boolean));
    await report.run("Chromium / only two modules are fetched", async () => assert.deepEqual([...fetched].sort(), ["cpu", "formats"]));
  } finally {
    await browser.close();
    await site.close();
  }
}

/** Runs the cases in a page of Vite: of its development server, and as it builds the page. */
async function checkVite(report, tree) {
  const place = join(tree, "vite");
  await rm(place, { recursive: true, force: true });
  await mkdir(place);
  for (const file of scripts) await cp(join(tree, file), join(place, file));
  await cp(join(tree, "files"), join(place, "public/files"), { recursive: true });
  await writeFile(join(place, "index.html"), '<!doctype html><title>adapters</title><script type="module" src="window.js"></script>\n');
  // numcodecs makes functions of text, which the strict policy of other tests refuses.
  const sites = { "Vite, development": () => startVite(place), "Vite, built": () => buildWithVite(place, undefined, {}) };
  for (const [name, start] of Object.entries(sites)) {
    const [site, browser] = [await start(), await launch("none")];
    try {
      const page = await openPage(browser, site.url);
      await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
        throw new Error([error.message, ...page.faults].join("\n"));
      });
      const result = await page.evaluate(() => globalThis.result);
      for (const [of, error] of Object.entries(result)) await report.run(`${name} / ${of}`, async () => assert.equal(error, null));
    } finally {
      await browser.close();
      await site.close();
    }
  }
}

await exitWith(async () => {
  if (!existsSync(join(root, "dist/adapters/arrow.js"))) throw new Remedy("dist/ is missing; run: npm run build");
  const python = await installPython();
  const tree = await installTree("adapters", "pkg-tests");
  const report = new Report(process.argv[2]);
  await prepare(tree);
  const folder = await writeFiles(python, tree);
  const written = join(tree, "written");
  await checkNode(report, tree, folder, written);
  await report.run("Python reads the files that Node wrote", async () => {
    console.log(`       ${(await output(python, [join(here, "read.py"), written])).trim()}`);
  });
  await report.run("CommonJS", () => checkCommonJs(tree));
  await report.run("types", () => checkTypes(tree));
  const failed = await report.run("Chromium", () => checkPages(report, tree));
  if (failed) console.error(failed.message);
  const failedVite = await report.run("Vite", () => checkVite(report, tree));
  if (failedVite) console.error(failedVite.message);
  report.finish();
});
