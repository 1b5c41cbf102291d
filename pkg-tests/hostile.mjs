// Tests the built package in Node with malicious input. Needs dist/: `npm run build`. An argument selects the cases whose
// line contains it. PAGEPRESS_TRAPS is the number of traps, PAGEPRESS_MUTATIONS the number of mutated inputs, and
// PAGEPRESS_SEED their seed.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { output, root } from "../scripts/build/run.mjs";
import { Report } from "../tests/browser/harness/report.mjs";
import { cases as lengths } from "./hostile/lengths.mjs";

const { PAGEPRESS_TRAPS = "300", PAGEPRESS_MUTATIONS = "20000", PAGEPRESS_SEED = "1" } = process.env;
const SMALL_MEMORY = "--wasm-max-mem-pages=4096";

/** Returns the time limit of a script in seconds: 600, and 20 ms per repetition. */
const limit = (n) => 600 + Number(n) / 50;

/** Cases that need their own process, for memory limits or fresh modules: name, script, flags of Node, arguments. */
const scripts = [
  ["sizes beyond the memory limit of 256 MiB", "claims", [SMALL_MEMORY], []],
  [`${PAGEPRESS_TRAPS} traps with a memory limit of 256 MiB`, "traps", ["--expose-gc", SMALL_MEMORY], [PAGEPRESS_TRAPS]],
  [`${PAGEPRESS_MUTATIONS} mutated inputs`, "mutations", ["--expose-gc"], [PAGEPRESS_MUTATIONS, PAGEPRESS_SEED]],
];

async function main() {
  if (!existsSync(`${root}/dist/index.js`)) throw new Error("dist/ is missing; run: npm run build");
  const report = new Report(process.argv[2]);
  for (const [name, work] of lengths) await report.run(`hostile / ${name}`, work);
  for (const [name, script, flags, args] of scripts) {
    const run = async () => {
      const path = fileURLToPath(new URL(`hostile/${script}.mjs`, import.meta.url));
      console.log(`       ${(await output(process.execPath, [...flags, path, ...args])).trim()}`);
    };
    await report.run(`hostile / ${name}`, run, limit(args[0] ?? 0));
  }
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
