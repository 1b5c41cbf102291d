// The cross compiler and the emulator for drivers that exist only for arm64.
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Remedy, Skip, ask, root, run } from "../process.mjs";

const target = "aarch64-unknown-linux-gnu";
const debian = "apt-get install qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
const gcc = "aarch64-linux-gnu-gcc";

/** Builds the program for arm64 by the arguments of cargo; returns its path. */
export async function crossCompiler(build) {
  if (!findProgram(gcc) || !findProgram("qemu-aarch64-static", "qemu-aarch64")) throw new Skip(`QEMU or a compiler for arm64 is missing: ${debian}`);
  if (!ask("rustup", ["target", "list", "--installed"])?.includes(target)) {
    const { code } = await run("rustup", ["target", "add", target], { minutes: 10 });
    if (code !== 0) throw new Skip(`the Rust target ${target} cannot be installed`);
  }
  const folder = path.join(root, "target", "emulated");
  const env = { CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: gcc, CC_aarch64_unknown_linux_gnu: gcc, CARGO_TARGET_DIR: folder };
  const { code } = await run("cargo", [...build, "--target", target], { env });
  if (code !== 0) throw new Remedy("the program that compiles the kernels does not build for arm64");
  return path.join(folder, target, "debug/examples/compile_kernels");
}

/** Returns the function that gives the command of the emulator with variables for the emulated program only. */
export function emulator() {
  const qemu = findProgram("qemu-aarch64-static", "qemu-aarch64");
  return (variables) => [qemu, ...Object.entries(variables).flatMap(([name, value]) => ["-E", `${name}=${value}`])];
}
