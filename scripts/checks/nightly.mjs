// The nightly toolchain, which some checks need.
import { findProgram } from "../machine.mjs";
import { Skip, ask, run } from "../process.mjs";

/** Name of the toolchain: `PAGEPRESS_NIGHTLY`, or the newest. */
const name = process.env.PAGEPRESS_NIGHTLY ?? "nightly";

/** `+toolchain` for cargo, with these components, installed if need be. Throws a `Skip` where it cannot be had. */
export async function nightly(...components) {
  if (!findProgram("rustup")) throw new Skip("no rustup to install a nightly toolchain with");
  const installed = ask("rustup", ["component", "list", "--toolchain", name, "--installed"])?.split("\n") ?? [];
  const missing = components.filter((component) => !installed.some((one) => one.startsWith(component)));
  if (installed.length === 0 || missing.length > 0) {
    const args = ["toolchain", "install", name, "--profile", "minimal", ...missing.flatMap((one) => ["--component", one])];
    const { code } = await run("rustup", args, { minutes: 10 });
    if (code !== 0) throw new Skip(`the toolchain ${name} with ${components.join(", ")} cannot be installed`);
  }
  console.log(ask("rustc", [`+${name}`, "--version"]));
  return `+${name}`;
}
