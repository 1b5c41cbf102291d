// The portable path of the codec under Miri: with both models of borrows, and on a big-endian machine.
import { exitWith } from "../process.mjs";
import { each, must } from "./must.mjs";
import { nightly } from "./nightly.mjs";

const cases = [
  ["Stacked Borrows", "", []],
  ["Tree Borrows", "-Zmiri-tree-borrows", []],
  ["big-endian", "", ["--target", "s390x-unknown-linux-gnu"]],
];

/** liblz4, with which other tests compare, is C: Miri neither links nor runs it, so no compiler for the target is needed. */
const withoutC = { CC_s390x_unknown_linux_gnu: "true", AR_s390x_unknown_linux_gnu: "true" };

await exitWith(async () => {
  const toolchain = await nightly("miri", "rust-src");
  await each(cases, (flags, target) =>
    must("cargo", [toolchain, "miri", "test", "--no-default-features", "--test", "lz4_miri", ...target], {
      env: { MIRIFLAGS: `-Zmiri-strict-provenance -Zmiri-symbolic-alignment-check ${flags}`.trim(), ...withoutC },
    }),
  );
});
