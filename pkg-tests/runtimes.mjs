// Tests the package in Node, Deno and Bun, on the CPU and on a software GPU.
import { strict as assert } from "node:assert";
import { symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output, root } from "../scripts/build/run.mjs";
import { swiftshader } from "../scripts/machine.mjs";
import { checkOutcomes, checkTensorOutcome } from "./pages.mjs";

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
}
