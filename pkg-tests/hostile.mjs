// The built package against input that means it harm, in Node. Needs dist/: `npm run build`. With an argument only the cases
// whose line holds it. PAGEPRESS_TRAPS is how often modules trap, PAGEPRESS_MUTATIONS how many changed inputs are tried, and
// PAGEPRESS_SEED which.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { output, root } from "../scripts/build/run.mjs";
import { Report } from "../tests/browser/harness/report.mjs";
import { cases as lengths } from "./hostile/lengths.mjs";

const { PAGEPRESS_TRAPS = "300", PAGEPRESS_MUTATIONS = "20000", PAGEPRESS_SEED = "1" } = process.env;
const SMALL_MEMORY = "--wasm-max-mem-pages=4096";

/** Seconds that a script may take: some for its start, and 20 ms a repetition. */
const limit = (n) => 600 + Number(n) / 50;

/** Memory limits are those of a process, and modules are loaded once in one: scripts, flags of Node, arguments. */
const scripts = [
  ["input that claims more than there is, 256 MiB", "claims", [SMALL_MEMORY], []],
  [`${PAGEPRESS_TRAPS} traps, 256 MiB`, "traps", ["--expose-gc", SMALL_MEMORY], [PAGEPRESS_TRAPS]],
  [`${PAGEPRESS_MUTATIONS} changed inputs`, "mutations", ["--expose-gc"], [PAGEPRESS_MUTATIONS, PAGEPRESS_SEED]],
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
