// Tests the codec with NEON on an emulated processor. A long round trip must have the same hashes as on this machine.
import { arm64Target as target, arm64Tools, arm64Variables } from "../arm64.mjs";
import { Remedy, exitWith } from "../process.mjs";
import { must } from "./must.mjs";

const PAGEPRESS_ROUND_TRIP_MB = process.env.PAGEPRESS_ROUND_TRIP_MB ?? "100";

const hashes = (output) => output.match(/^round trip of .*/gm)?.join("\n");

await exitWith(async () => {
  const tools = await arm64Tools();
  const env = { PAGEPRESS_ROUND_TRIP_MB };
  const cargo = (...args) => ["test", "--package", "pagepress", "--no-default-features", ...args];
  const here = await must("cargo", cargo("--test", "lz4_round_trip"), { env });
  const emulated = { ...env, ...arm64Variables(tools) };
  const there = await must("cargo", cargo("--target", target, "--lib", "--test", "lz4_round_trip"), { env: emulated });
  await must("cargo", cargo("--target", target, "--test", "lz4", "--", "block::", "corrupt::"), { env: emulated });
  console.log(`\ninstruction sets under ${tools.qemu}: ${/^instruction sets: \[(.*)\]/m.exec(there)?.[1]}`);
  if (!hashes(here) || hashes(here) !== hashes(there)) {
    throw new Remedy(`the processors differ:\n${process.arch}\n${hashes(here)}\narm64\n${hashes(there)}`);
  }
  console.log(`${PAGEPRESS_ROUND_TRIP_MB} MB give the same bytes on ${process.arch} and arm64`);
});
