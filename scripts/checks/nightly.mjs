// Installs the nightly toolchain for checks that need it.
import { findProgram } from "../machine.mjs";
import { Skip, ask, run } from "../process.mjs";

/** The toolchain's name: `PAGEPRESS_NIGHTLY`, or the newest nightly. */
const name = process.env.PAGEPRESS_NIGHTLY ?? "nightly";

/**
 * Installs the toolchain with `components` if necessary and returns its argument for cargo, `+name`. Throws a `Skip` if
 * it cannot.
 */
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
