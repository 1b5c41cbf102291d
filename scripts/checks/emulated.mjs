// Tests the codec with NEON on an emulated processor. A long round trip must have the same hashes as on this machine.
import { findProgram } from "../machine.mjs";
import { Remedy, Skip, ask, exitWith, run } from "../process.mjs";
import { must } from "./must.mjs";

const target = "aarch64-unknown-linux-gnu";
const debian = "apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
const PAGEPRESS_ROUND_TRIP_MB = process.env.PAGEPRESS_ROUND_TRIP_MB ?? "100";

/** Returns the variables that compile for the emulated target, and run it with its C library. */
const emulation = (qemu, gcc) => ({
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: gcc,
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER: `${qemu} -L ${process.env.QEMU_LD_PREFIX ?? "/usr/aarch64-linux-gnu"}`,
  CC_aarch64_unknown_linux_gnu: gcc,
});

async function tools() {
  const programs = () => [findProgram("qemu-aarch64", "qemu-aarch64-static"), findProgram("aarch64-linux-gnu-gcc")];
  if (programs().includes(null) && findProgram("apt-get") && process.getuid?.() === 0) {
    await run("apt-get", debian.replace("install", "install -y --no-install-recommends").split(" ").slice(1), {
      env: { DEBIAN_FRONTEND: "noninteractive" },
      minutes: 10,
    });
  }
  if (programs().includes(null)) throw new Skip(`QEMU or a compiler for it is missing: ${debian}`);
  if (!ask("rustup", ["target", "list", "--installed"])?.includes(target)) {
    const { code } = await run("rustup", ["target", "add", target], { minutes: 10 });
    if (code !== 0) throw new Skip(`the Rust target ${target} cannot be installed`);
  }
  return programs();
}

const hashes = (output) => output.match(/^round trip of .*/gm)?.join("\n");

await exitWith(async () => {
  const [qemu, gcc] = await tools();
  const env = { PAGEPRESS_ROUND_TRIP_MB };
  const cargo = (...args) => ["test", "--package", "pagepress", "--no-default-features", ...args];
  const here = await must("cargo", cargo("--test", "lz4_round_trip"), { env });
  const emulated = { ...env, ...emulation(qemu, gcc), CARGO_TARGET_DIR: "target/emulated" };
  const suites = ["lz4_block", "lz4_corrupt", "lz4_round_trip"].flatMap((suite) => ["--test", suite]);
  const there = await must("cargo", cargo("--target", target, "--lib", ...suites), { env: emulated });
  console.log(`\ninstruction sets under ${qemu}: ${/^instruction sets: \[(.*)\]/m.exec(there)?.[1]}`);
  if (!hashes(here) || hashes(here) !== hashes(there)) {
    throw new Remedy(`the processors differ:\n${process.arch}\n${hashes(here)}\narm64\n${hashes(there)}`);
  }
  console.log(`${PAGEPRESS_ROUND_TRIP_MB} MB give the same bytes on ${process.arch} and arm64`);
});
