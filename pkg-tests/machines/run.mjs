// Freezes machines from npm in Chromium, reloads the page, thaws them, and compares their results with those of a run without a
// freeze. Some also in Node.
//
// Needs dist/: `npm run build`, and the network once. An argument selects the cases whose line contains it.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import binaryen from "binaryen";
import { output, root, run } from "../../scripts/build/run.mjs";
import { exitWith, Remedy, Skip } from "../../scripts/process.mjs";
import { launch, openPage } from "../../tests/browser/harness/chromium.mjs";
import { Report } from "../../tests/browser/harness/report.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";
import { makeWorkplace, pack } from "../install.mjs";
import { installTree } from "../matrix/install.mjs";
import { writeExamples } from "./guide.mjs";
import { debianImages } from "./images.mjs";

/**
 * The machines: the module of the page, what it is, and the maximum length of an increment as a part of the length of the first
 * version's file, and where it runs besides a window.
 */
const machines = [
  { module: "module", title: "a module with globals", increment: 0.1 },
  { module: "sqlite", title: "SQLite: sql.js", increment: 0.2 },
  { module: "pyodide", title: "Python: Pyodide", increment: 0.3, also: ["worker", "Node"] },
  { module: "pc-program", title: "PC: v86, a program", increment: 0.05, also: ["worker", "Node"] },
  { module: "pc-linux", title: "PC: v86, Linux", increment: 0.05, images: debianImages },
];

/** Returns a database file with a table without rows. */
async function databaseFile(packages) {
  const SQL = await createRequire(import.meta.url)(join(packages, "sql.js"))();
  const db = new SQL.Database();
  db.run("CREATE TABLE numbers (id INTEGER PRIMARY KEY, text TEXT)");
  return db.export();
}

/** Writes the scripts of `place` again for workers, for which import maps do not count: with URLs in place of names. */
async function writeForWorkers(place) {
  const { imports } = JSON.parse(/<script type="importmap">([^]*?)<\/script>/.exec(await readFile(join(place, "index.html"), "utf8"))[1]);
  const scripts = [...(await readdir(place)), ...(await readdir(join(place, "guide"))).map((name) => `guide/${name}`)];
  await mkdir(join(place, "in-worker/guide"), { recursive: true });
  for (const name of scripts.filter((script) => script.endsWith(".js"))) {
    const text = (await readFile(join(place, name), "utf8")).replaceAll('"node_modules/', '"/node_modules/');
    const changed = text.replace(/(?<= from )"([^".]+)"/g, (_, module) => JSON.stringify(new URL(imports[module], "file:///").pathname));
    await writeFile(join(place, "in-worker", name), changed);
  }
}

/** Makes a folder with the page, the packed package, the packages of the machines and the examples of the guide. */
async function makeSite(folder) {
  const place = join(folder, "site");
  const packages = join(await installTree("machines", "pkg-tests"), "node_modules");
  await cp(join(root, "pkg-tests/machines/page"), place, { recursive: true });
  const modules = join(place, "node_modules");
  await mkdir(join(modules, "pagepress"), { recursive: true });
  const { tarball } = await pack(folder);
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(modules, "pagepress")]);
  for (const name of ["pyodide", "sql.js", "v86"]) await symlink(join(packages, name), join(modules, name));
  const examples = ["module", "sqlite", "pyodide", "v86"].map((name) => `guide/${name}.js`);
  assert.deepEqual(await writeExamples(place), examples);
  await writeForWorkers(place);
  const text = await readFile(join(place, "module.wat"), "utf8");
  await writeFile(join(place, "module.wasm"), binaryen.parseText(text).emitBinary());
  await writeFile(join(place, "numbers.sqlite"), await databaseFile(packages));
  await writeFile(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return place;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
const milliseconds = ({ ms, blockedMs }) => `${Math.round(ms)} ms, longest pause ${blockedMs.toFixed(1)} ms`;

function print(name, { byteLength, fileBytes, counts, ...times }) {
  const pages = `${counts.stored} of ${counts.pages} pages stored`;
  console.log(`       ${name}: ${megabytes(byteLength)}, file ${megabytes(fileBytes)}, ${pages}; ${milliseconds(times)}`);
}

/** Returns a function that runs calls of page.js, each in a page that has just been loaded. */
async function inWindow(browser, url) {
  const page = await openPage(browser, "about:blank");
  const call = async (name, ...args) => {
    await page.goto(url);
    await page.waitForFunction(() => globalThis.machines);
    const value = await page.evaluate(([method, values]) => globalThis.machines[method](...values), [name, args]);
    assert.deepEqual(page.faults, []);
    return value;
  };
  return { call, close: () => page.context().close() };
}

/** Returns a function that runs calls of page.js, each in a worker of a page that has just been loaded. */
async function inWorker(browser, url) {
  const page = await openPage(browser, "about:blank");
  const call = async (...args) => {
    await page.goto(url);
    const value = await page.evaluate((message) => {
      const worker = new Worker("/in-worker/worker.js", { type: "module" });
      return new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.value));
        worker.onerror = ({ message: text }) => reject(new Error(text ?? "the worker does not start"));
        worker.postMessage(message);
      });
    }, args);
    assert.deepEqual(page.faults, []);
    return value;
  };
  return { call, close: () => page.context().close() };
}

/** Returns a function that runs calls of page.js, each in a process of its own. */
async function inNode(place) {
  const call = async (...args) => JSON.parse(await output(process.execPath, ["node.mjs", ...args], { cwd: place }));
  return { call, close: async () => undefined };
}

/** Tests a machine: takes two versions, and thaws each of them where nothing is left of the machine. */
async function checkMachine({ call, close }, { module, increment }) {
  const expected = await call("whole", module);
  const { first, second, changedBytes } = await call("freezeTwice", module);
  print("first version", first);
  print("second version", second);
  console.log(`       changed between them: ${megabytes(changedBytes)}`);
  assert.equal(second.chainLength, 2);
  assert.ok(second.fileBytes < increment * first.fileBytes, `an increment of ${second.fileBytes} bytes after ${first.fileBytes}`);
  for (const label of ["first", "second"]) {
    const { result, restored, taken, thawed, again } = await call("thawStored", module, label);
    console.log(`       ${label} version restored to arrays: ${milliseconds(restored)}; taken of arrays: ${milliseconds(taken)}`);
    console.log(`       ${label} version thawed: ${milliseconds(thawed)}`);
    print("frozen again at once", again);
    assert.deepEqual(result, expected, `the ${label} version`);
    assert.ok(again.fileBytes < increment * first.fileBytes, `an increment of ${again.fileBytes} bytes after a thaw`);
  }
  await close();
}

/** Prints the longest time between two messages of a page that does nothing else: what other programs of the machine add. */
async function printIdle(browser, url) {
  const { call, close } = await inWindow(browser, url);
  console.log(`       a page without work: ${milliseconds(await call("idle"))}`);
  await close();
}

async function main() {
  if (!existsSync(join(root, "dist/snapshot.js"))) throw new Remedy("dist/ is missing; run: npm run build");
  const report = new Report(process.argv[2]);
  const { folder, remove } = await makeWorkplace();
  const browser = await launch("none");
  try {
    const place = await makeSite(folder);
    const site = await serve(place);
    await printIdle(browser, site.url);
    const places = { window: () => inWindow(browser, site.url), worker: () => inWorker(browser, site.url), Node: () => inNode(place) };
    for (const machine of machines) {
      const names = ["window", ...(machine.also ?? [])].map((where) => ({ where, name: `${machine.title} [${where}]` }));
      const wanted = names.filter(({ name }) => report.wants(name));
      if (wanted.length === 0) continue;
      const images = await machine.images?.().catch((error) => error);
      if (images instanceof Skip) {
        for (const { name } of wanted) report.skip(name, images.message);
        continue;
      }
      if (images) await symlink(images, join(place, "images"));
      for (const { where, name } of wanted) await report.run(name, async () => checkMachine(await places[where](), machine));
    }
    await site.close();
  } finally {
    await browser.close();
    await remove();
  }
  report.finish();
}

await exitWith(main);
