// Compiles every kernel, in every variant that jobs choose, with the compilers of GPUs that are not there: Mesa's drivers on its
// drm-shim, which pretends that the GPU exists and runs nothing. Fails if a kernel does not compile, spills more than recorded in
// tests/compilers.json, or has fewer waves than recorded there.
//
// node scripts/checks/compilers.mjs [--built | --emulated] [--write] [--kernels] [--variants] [--kernel WORD] [--limit SECONDS]
//   [--gpu DRIVER:ID]... [WORD]
//
// WORD chooses GPUs by name. `--built` takes those of which a part of Mesa is built, which Debian does not have: Intel's, Mali and the
// Raspberry Pi; `--emulated` takes PowerVR, whose driver Debian has for arm64 only, and which QEMU runs. Variants that take more than
// `--limit` seconds (300) are given up and named. `--kernel` chooses kernels by their names with overrides. Runs with `--kernel` or `--gpu`
// are neither compared nor recorded.
// `--kernels` prints a line for each kernel, `--variants` for each variant when it is compiled.
// `--gpu` compiles for a GPU that is not recorded, such as amdgpu:gfx1100, freedreno:642, nouveau:192 and panfrost:9091. `--write` records the
// results.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { compileVariants, worst } from "../compilers/compile.mjs";
import { chosenGpu, devices } from "../compilers/devices.mjs";
import { allVariants, toolsFor } from "../compilers/program.mjs";
import { Remedy, Skip, exitWith, root } from "../process.mjs";

const record = path.join(root, "tests/compilers.json");
const options = {
  built: { type: "boolean", default: false },
  emulated: { type: "boolean", default: false },
  gpu: { type: "string", multiple: true },
  kernel: { type: "string", default: "" },
  kernels: { type: "boolean" },
  limit: { type: "string", default: "300" },
  variants: { type: "boolean" },
  write: { type: "boolean" },
};

/** Returns the differences from the record that make the check fail. Nothing is known of kernels recorded as null, which were given up. */
function regressions(kernels, recorded = {}) {
  return Object.entries(kernels).flatMap(([name, { spills, waves }]) => {
    const known = name in recorded ? recorded[name] : { spills: 0, waves: 0 };
    const found = [];
    if (known && spills > known.spills) found.push(`${name} spills ${spills}, ${known.spills} are recorded`);
    if (known && waves < known.waves) found.push(`${name} has ${waves} waves, ${known.waves} are recorded`);
    return found;
  });
}

/** Returns what is recorded of a GPU. Kernels that were given up keep the numbers that they had, or get null. */
function numbersToRecord(kernels, slow, recorded = {}) {
  const names = slow.map((variant) => variant.split(" ")[0]).filter((name) => !kernels[name]);
  const kept = names.map((name) => [name, recorded[name] ?? null]);
  const numbers = Object.entries(kernels).map(([name, { waves, spills }]) => [name, { waves, spills }]);
  return Object.fromEntries([...kept, ...numbers].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const printLine = (name, { registers, waves, spills, bytes }) => console.log(`  ${name}: ${registers} registers, ${waves} waves, ${spills} spills, ${bytes} bytes`);

function print(device, { description, compiled, failures, slow }, kernels, everyKernel) {
  const all = Object.entries(kernels);
  const [narrow, { waves, registers } = {}] = all.filter(([, kernel]) => kernel.bytes + kernel.registers > 0).sort(([, a], [, b]) => a.waves - b.waves)[0] ?? ["none"];
  const spilling = all.filter(([, { spills }]) => spills > 0).map(([name, { spills }]) => `${name} ${spills}`);
  console.log(`\n${device.name} (${description ?? "not opened"}): ${all.length} kernels, ${compiled.length} variants; fewest waves: ${narrow} ${waves ?? "-"} with ${registers ?? "-"} registers; spills: ${spilling.join(", ") || "none"}`);
  for (const failure of failures) console.log(`  failed: ${failure}`);
  for (const variant of slow) console.log(`  given up: ${variant}`);
  if (everyKernel) for (const [name, kernel] of all) printLine(name, kernel);
}

/** Returns the GPUs that the command line chooses. */
function choose({ gpu, built, emulated }, [word = ""]) {
  if (gpu) return gpu.map(chosenGpu);
  const all = devices.filter((device) => Boolean(device.built) === built && Boolean(device.emulated) === emulated);
  const chosen = all.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
  if (chosen.length === 0) throw new Remedy(`no GPU is named ${word}; known: ${all.map(({ name }) => name).join(", ")}`);
  return chosen;
}

await exitWith(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const chosen = choose(values, positionals);
  if (process.platform !== "linux" || process.arch !== "x64") throw new Skip("the programs that run the drivers are those of Debian for x86-64");
  const recorded = existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : {};
  const isWhole = !values.kernel && !values.gpu;
  const problems = [];
  for (const device of chosen) {
    const { name } = device;
    const tools = await toolsFor(device);
    const { names, refusal } = allVariants(device, tools);
    if (refusal) {
      problems.push(`${name}: the device cannot be opened: ${refusal}`);
      continue;
    }
    const all = names.filter((variant) => variant.includes(values.kernel));
    if (all.length === 0) problems.push(`${name}: no kernel has ${values.kernel} in its name`);
    const tell = (one) => values.variants && printLine(one.variant, one);
    const result = await compileVariants(device, all, tools, { limit: Number(values.limit), tell });
    const kernels = worst(result.compiled);
    print(device, result, kernels, values.kernels);
    const isCompared = isWhole && !values.write;
    const found = [...result.failures, ...(isCompared ? regressions(kernels, recorded[name]) : [])];
    problems.push(...found.map((text) => `${name}: ${text}`));
    recorded[name] = numbersToRecord(kernels, result.slow, recorded[name]);
  }
  if (problems.length > 0) throw new Remedy(problems.join("\n"));
  if (isWhole && values.write) writeFileSync(record, `${JSON.stringify(recorded, null, 1)}\n`);
});
