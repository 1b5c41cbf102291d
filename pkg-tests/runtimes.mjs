// Tests the package in Node, Deno and Bun, on the CPU and on a software GPU.
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output, root } from "../scripts/build/run.mjs";
import { swiftshader } from "../scripts/machine.mjs";
import { checkOutcomes, checkTensorOutcome, entriesOutcome } from "./pages.mjs";

/** Number of processes that are killed while they save snapshots. */
const N_KILLS = Number(process.env.PAGEPRESS_SAVE_KILLS ?? 10);

const bin = (path) => join(root, "node_modules", path);

/** Runs the fixture in `place` and checks its output. */
async function check(place, command, args, asked = []) {
  const env = {
    ...process.env,
    DENO_DIR: join(place, ".deno"),
    DENO_NO_UPDATE_CHECK: "1",
    VK_DRIVER_FILES: swiftshader(),
    VK_ICD_FILENAMES: swiftshader(),
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
  };
  const printed = await output(command, [...args, join(place, "main.mjs"), ...asked], { cwd: place, env });
  checkOutcomes(JSON.parse(printed), asked.includes("gpu") ? ["webgpu", "cpu"] : ["cpu"], true);
}

/** Tests tensors in the fixture in `place`: on the CPU, and on the GPU of the npm package webgpu. */
export async function checkTensorRuntimes(report, place) {
  const env = { ...process.env, VK_DRIVER_FILES: swiftshader(), VK_ICD_FILENAMES: swiftshader() };
  await symlink(bin("webgpu"), join(place, "node_modules/webgpu"));
  for (const [name, engine, asked] of [["CPU", "cpu", []], ["subpath", "cpu", ["subpath"]], ["webgpu", "webgpu", ["inject"]]]) {
    await report.run(`tensors in Node, ${name}`, async () => {
      const printed = await output(process.execPath, [join(place, "main.mjs"), ...asked], { cwd: place, env });
      checkTensorOutcome(JSON.parse(printed), engine);
    });
  }
}

/** Tests the entries beside the main one with a runtime. */
async function checkOthers(place, command, args) {
  const printed = await output(command, [...args, join(place, "others.mjs")], { cwd: place, env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" } });
  assert.deepEqual(JSON.parse(printed), entriesOutcome);
}

/** Tests snapshots in a folder with a runtime. */
async function checkSnapshots(place, command, args) {
  const folder = await mkdtemp(join(place, "snapshots-"));
  const printed = await output(command, [...args, join(place, "snapshots.mjs"), "round", folder], { cwd: place, env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" } });
  const changedBytes = 2 ** 22 / 16;
  assert.deepEqual(JSON.parse(printed), { versions: 2, isEqual: true, changedBytes, place: `folder:${folder}` });
}

/** Kills processes that save snapshots, and checks that every version with a name is whole. */
async function killSaves(place, nKills) {
  const folder = await mkdtemp(join(place, "snapshots-"));
  const script = join(place, "snapshots.mjs");
  for (let n = 0; n < nKills; n += 1) {
    const child = spawn(process.execPath, [script, "save", folder], { cwd: place, stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("close", resolve));
    const isFirst = new Promise((resolve) => child.stdout.once("data", () => resolve(false)));
    if ((await Promise.race([ended, isFirst])) !== false) throw new Error("the process that saves has ended");
    await new Promise((resolve) => setTimeout(resolve, (n * 37) % 211));
    child.kill("SIGKILL");
    await ended;
    const versions = Number(await output(process.execPath, [script, "verify", folder], { cwd: place }));
    assert(versions > 0, `kill ${n}: no version is left`);
  }
}

/** Tests all runtimes with the package installed in `place`. */
export async function checkRuntimes(report, place) {
  const node = (...asked) => check(place, process.execPath, [], asked);
  await symlink(bin("webgpu"), join(place, "node_modules/webgpu"));
  await report.run("Node", () => node());
  await report.run("Node, module from its subpath", () => node("subpath"));
  await report.run("Node, configured", async () => {
    const printed = await output(process.execPath, [join(place, "configured.mjs")], { cwd: place });
    assert.deepEqual(JSON.parse(printed), ["cpu", "seek"]);
  });
  await report.run("Node, GPU of the package webgpu", () => node("gpu", "inject"));
  const permissions = ["--no-prompt", "--allow-read", "--node-modules-dir=manual", "--cached-only"];
  const deno = (...asked) => check(place, bin(".bin/deno"), ["run", ...permissions], asked);
  await report.run("Deno", () => deno());
  await report.run("Deno, its own GPU", () => deno("gpu"));
  await report.run("Bun", () => check(place, bin(".bin/bun"), ["run"]));
  await report.run("Node, other entries", () => checkOthers(place, process.execPath, []));
  await report.run("Deno, other entries", () => checkOthers(place, bin(".bin/deno"), ["run", ...permissions]));
  await report.run("Bun, other entries", () => checkOthers(place, bin(".bin/bun"), ["run"]));
  await report.run("snapshots in Node", () => checkSnapshots(place, process.execPath, []));
  await report.run("snapshots in Deno", () => checkSnapshots(place, bin(".bin/deno"), ["run", ...permissions, "--allow-write", "--allow-sys"]));
  await report.run("snapshots in Bun", () => checkSnapshots(place, bin(".bin/bun"), ["run"]));
  await report.run(`Node killed during ${N_KILLS} saves of snapshots`, () => killSaves(place, N_KILLS));
}
