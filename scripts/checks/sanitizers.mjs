// Tests the codec under AddressSanitizer, with each instruction set of this machine.
import { Remedy, Skip, exitWith } from "../process.mjs";
import { each, must } from "./must.mjs";
import { nightly } from "./nightly.mjs";

// An explicit target, so that build scripts and macros are compiled without the sanitizer.
const target = "x86_64-unknown-linux-gnu";

await exitWith(async () => {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Skip("for x86-64 Linux only");
  const toolchain = await nightly();
  const test = (tests, instructions) =>
    must("cargo", [toolchain, "test", "--package", "pagepress", "--target", target, "--no-default-features", ...tests], {
      env: {
        CARGO_TARGET_DIR: "target/sanitizers",
        RUSTFLAGS: "-Zsanitizer=address --cfg pagepress_forced_instructions",
        ...(instructions && { PAGEPRESS_INSTRUCTIONS: instructions }),
      },
    });
  const unit = await test(["--lib"]);
  const found = /^instruction sets: \[(.*)\]/m.exec(unit)?.[1].match(/Avx512|Avx2|Portable/g);
  if (!found) throw new Remedy("the unit tests do not name the instruction sets");
  const suites = ["--test", "lz4", "--", "block::", "corrupt::", "frame::"];
  await each(found.map((set) => [`${set} under AddressSanitizer`, set]), (set) => test(suites, set));
  console.log(`\ninstruction sets under AddressSanitizer: ${found.join(", ")}`);
});
