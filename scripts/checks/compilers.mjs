// Compiles every kernel, in every variant that jobs choose, with the compilers of GPUs that are not there: Mesa's drivers on its
// drm-shim, which pretends that the GPU exists and runs nothing. Fails if a kernel does not compile, spills more than recorded in
// tests/compilers.json, or has fewer waves than recorded there.
//
// node scripts/checks/compilers.mjs [--write] [--kernels] [WORD]: --write records the results. --kernels prints a line for each
// kernel. WORD chooses GPUs by name.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { unpackedDrivers } from "../compilers/packages.mjs";
import { devices } from "../compilers/devices.mjs";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";

const program = path.join(root, "target/debug/examples/compile_kernels");
const record = path.join(root, "tests/compilers.json");
/** Minutes for all kernels of a GPU. */
const MINUTES = 30;

/** Compiles the kernels on a GPU. Returns the description of the device, the failures, and statistics by kernel. */
async function compileAll(device, { libraries, linker, manifests }) {
  const variables = {
    ...device.env,
    VK_DRIVER_FILES: path.join(manifests, `${device.manifest}_icd.json`),
    VK_LOADER_LAYERS_DISABLE: "*",
    MESA_SHADER_CACHE_DISABLE: "1",
  };
  const shim = path.join(libraries, `lib${device.shim}_noop_drm_shim.so`);
  const args = ["--preload", shim, "--library-path", libraries, program];
  const child = spawn(linker, args, { env: { ...process.env, ...variables }, stdio: ["ignore", "ignore", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), MINUTES * 60_000);
  const result = { description: "", failures: [], kernels: {}, last: "" };
  let current = null;
  for await (const line of createInterface({ input: child.stderr })) {
    const [, word, rest] = /^(device|kernel|failed): (.*)/.exec(line) ?? [];
    if (word === "device") result.description = rest;
    else if (word === "failed") result.failures.push(`${result.last}: ${rest}`);
    else if (word === "kernel") {
      keep(result.kernels, current);
      result.last = rest;
      current = { name: rest.split(" ")[0], registers: 0, waves: 0, spills: 0, bytes: 0 };
    } else if (line.startsWith("all kernels: ")) result.last = "";
    else if (current) device.read(line, current);
  }
  keep(result.kernels, current);
  clearTimeout(timer);
  if (result.description === "") result.failures.push("the device cannot be opened");
  else if (result.last !== "") result.failures.push(`${result.last}: the compiler ended the process`);
  return result;
}

/** Adds the statistics of a variant to its kernel's: the worst of all variants. */
function keep(kernels, variant) {
  if (!variant) return;
  const kernel = (kernels[variant.name] ??= { variants: 0, registers: 0, waves: Infinity, spills: 0, bytes: 0 });
  kernel.variants += 1;
  kernel.waves = Math.min(kernel.waves, variant.waves);
  for (const name of ["registers", "spills", "bytes"]) kernel[name] = Math.max(kernel[name], variant[name]);
}

/** Returns the differences from the record that make the check fail. */
function regressions(kernels, recorded = {}) {
  return Object.entries(kernels).flatMap(([name, { spills, waves }]) => {
    const known = recorded[name] ?? { spills: 0, waves: 0 };
    const found = [];
    if (spills > known.spills) found.push(`${name} spills ${spills}, ${known.spills} are recorded`);
    if (waves < known.waves) found.push(`${name} has ${waves} waves, ${known.waves} are recorded`);
    return found;
  });
}

function print(device, { description, failures, kernels }, everyKernel) {
  const all = Object.entries(kernels);
  const count = all.reduce((sum, [, { variants }]) => sum + variants, 0);
  const [narrow, { waves, registers } = {}] = all.filter(([, kernel]) => kernel.bytes + kernel.registers > 0).sort(([, a], [, b]) => a.waves - b.waves)[0] ?? ["none"];
  const spilling = all.filter(([, { spills }]) => spills > 0).map(([name, { spills }]) => `${name} ${spills}`);
  console.log(`\n${device.name} (${description}): ${all.length} kernels, ${count} variants; fewest waves: ${narrow} ${waves ?? "-"} with ${registers ?? "-"} registers; spills: ${spilling.join(", ") || "none"}`);
  for (const failure of failures) console.log(`  failed: ${failure}`);
  if (!everyKernel) return;
  for (const [name, kernel] of all) console.log(`  ${name}: ${kernel.registers} registers, ${kernel.waves} waves, ${kernel.spills} spills, ${kernel.bytes} bytes`);
}

await exitWith(async () => {
  const options = { write: { type: "boolean" }, kernels: { type: "boolean" } };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [word = ""] = positionals;
  const chosen = devices.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
  if (chosen.length === 0) throw new Remedy(`no GPU is named ${word}; known: ${devices.map(({ name }) => name).join(", ")}`);
  if (process.platform !== "linux" || process.arch !== "x64") throw new Skip("the drivers are those of Debian for x86-64");
  const drivers = await unpackedDrivers();
  const { code } = await run("cargo", ["build", "--example", "compile_kernels", "--all-features"]);
  if (code !== 0) throw new Remedy("the program that compiles the kernels does not build");
  const recorded = existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : {};
  const problems = [];
  for (const device of chosen) {
    const { name } = device;
    const result = await compileAll(device, drivers);
    print(device, result, values.kernels);
    const found = [...result.failures, ...(values.write ? [] : regressions(result.kernels, recorded[name]))];
    problems.push(...found.map((text) => `${name}: ${text}`));
    recorded[name] = Object.fromEntries(Object.entries(result.kernels).map(([kernel, { waves, spills }]) => [kernel, { waves, spills }]));
  }
  if (problems.length > 0) throw new Remedy(problems.join("\n"));
  if (values.write) writeFileSync(record, `${JSON.stringify(recorded, null, 1)}\n`);
});
