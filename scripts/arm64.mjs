// Finds what builds programs for Linux on arm64, and the emulator that runs them.
import { findProgram } from "./machine.mjs";
import { Skip, ask, run } from "./process.mjs";

/** The Rust target. */
export const arm64Target = "aarch64-unknown-linux-gnu";

const debian = "apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross";

/** Returns the variables that compile for the target, and run its programs with its C library. */
export const arm64Variables = ({ qemu, gcc }) => ({
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: gcc,
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER: `${qemu} -L ${process.env.QEMU_LD_PREFIX ?? "/usr/aarch64-linux-gnu"}`,
  CC_aarch64_unknown_linux_gnu: gcc,
  CARGO_TARGET_DIR: "target/emulated",
});

/**
 * Returns the paths of `{qemu, gcc}`: QEMU for programs of arm64, and a C compiler for it. Installs them and the Rust target if they are
 * missing, as root on Debian. Throws a `Skip` if it cannot.
 */
export async function arm64Tools() {
  const programs = () => ({ qemu: findProgram("qemu-aarch64", "qemu-aarch64-static"), gcc: findProgram("aarch64-linux-gnu-gcc") });
  const areThere = () => Object.values(programs()).every(Boolean);
  if (!areThere() && findProgram("apt-get") && process.getuid?.() === 0) {
    await run("apt-get", debian.replace("install", "install -y --no-install-recommends").split(" ").slice(1), {
      env: { DEBIAN_FRONTEND: "noninteractive" },
      minutes: 10,
    });
  }
  if (!areThere()) throw new Skip(`QEMU or a compiler for it is missing: ${debian}`);
  if (!ask("rustup", ["target", "list", "--installed"])?.includes(arm64Target)) {
    const { code } = await run("rustup", ["target", "add", arm64Target], { minutes: 10 });
    if (code !== 0) throw new Skip(`the Rust target ${arm64Target} cannot be installed`);
  }
  return programs();
}
