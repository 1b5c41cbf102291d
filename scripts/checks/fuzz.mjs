// Runs libFuzzer on each target of `fuzz/` for `PAGEPRESS_FUZZ_SECONDS`, by default 60.
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { Remedy, Skip, ask, exitWith, root } from "../process.mjs";
import { each, must } from "./must.mjs";
import { nightly } from "./nightly.mjs";

const seconds = Number(process.env.PAGEPRESS_FUZZ_SECONDS ?? 60);

await exitWith(async () => {
  const folder = path.join(root, "fuzz", "fuzz_targets");
  if (!existsSync(folder)) throw new Skip("there is no folder fuzz/fuzz_targets");
  if (!ask("cargo", ["fuzz", "--version"])) throw new Skip("no cargo-fuzz: cargo install cargo-fuzz");
  const toolchain = await nightly();
  const targets = readdirSync(folder).filter((name) => name.endsWith(".rs")).map((name) => path.basename(name, ".rs"));
  if (targets.length === 0) throw new Remedy("there is no target in fuzz/fuzz_targets");
  const minutes = 60 + seconds / 60;
  await each(targets.map((target) => [target, target]), async (target) => {
    const output = await must("cargo", [toolchain, "fuzz", "run", target, "--", `-max_total_time=${seconds}`], { minutes });
    console.log(`${target}: ${/^Done (\d+) runs/m.exec(output)?.[1]} executions`);
  });
});
