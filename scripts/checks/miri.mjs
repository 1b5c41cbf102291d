// Tests the portable path of the codec under Miri: with both borrow models, and for a big-endian target.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { exitWith, root } from "../process.mjs";
import { each, must } from "./must.mjs";
import { nightly } from "./nightly.mjs";

const cases = [
  ["Stacked Borrows", "", []],
  ["Tree Borrows", "-Zmiri-tree-borrows", []],
  ["big-endian", "", ["--target", "s390x-unknown-linux-gnu"]],
];

/**
 * Returns the variables that replace liblz4, which other tests use, by an empty archive: the big-endian target has no C
 * compiler here, and Miri does not run C.
 */
function withoutC() {
  const folder = path.join(root, "target", "miri-empty");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "liblz4.a"), "!<arch>\n");
  return {
    CC_s390x_unknown_linux_gnu: "true",
    AR_s390x_unknown_linux_gnu: "true",
    CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUSTFLAGS: `-L native=${folder}`,
  };
}

await exitWith(async () => {
  const toolchain = await nightly("miri", "rust-src");
  const env = withoutC();
  await each(cases, (flags, target) =>
    must("cargo", [toolchain, "miri", "test", "--no-default-features", "--test", "lz4_miri", ...target], {
      // Permissive provenance: rayon's queues cast integers to pointers.
      env: { MIRIFLAGS: `-Zmiri-permissive-provenance -Zmiri-symbolic-alignment-check ${flags}`.trim(), ...env },
    }),
  );
});
