// Builds `examples/compile_kernels.rs` for the processors of the drivers, and chooses the variants that it compiles.
import path from "node:path";
import { spawnSync } from "node:child_process";
import { arm64Target, arm64Tools, arm64Variables } from "../arm64.mjs";
import { Remedy, root, run } from "../process.mjs";
import { commandFor } from "./compile.mjs";
import { intelShim } from "./intel.mjs";
import { unpackedDrivers } from "./packages.mjs";

const example = "compile_kernels";
const here = path.join(root, "target/debug/examples", example);

/** Builds the program. `arguments_` are those of cargo. */
async function build(arguments_, env) {
  const { code } = await run("cargo", ["build", "--example", example, ...arguments_], { env });
  if (code !== 0) throw new Remedy("the program that compiles the kernels does not build");
}

/**
 * Returns the names of all variants of the kernels that jobs choose for a device, or what the program says if it cannot open the device:
 * `{names, refusal}`. The driver may print more than names.
 */
export function allVariants(device, tools) {
  const [command, args, env] = commandFor(device, tools, ["--list"]);
  const { stderr } = spawnSync(command, args, { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 28 });
  const names = [...stderr.matchAll(/^kernel: (.*)/gm)].map(([, name]) => name);
  const isOpen = /^device: /m.test(stderr);
  return { names, refusal: isOpen ? null : stderr.trim().split("\n").at(-1) || "the program says nothing" };
}

/** Returns the first of `variants` that have, together, every value of every override of each kernel. */
export function eachValue(variants) {
  const seen = new Set();
  return variants.filter((variant) => {
    const [kernel] = variant.split(" ");
    const values = (variant.match(/\("\w+", \d+\)/g) ?? []).map((value) => `${kernel} ${value}`);
    const isNew = [kernel, ...values].some((value) => !seen.has(value));
    for (const value of [kernel, ...values]) seen.add(value);
    return isNew;
  });
}

/** Returns the first variant of each kernel. */
export function firstOfEach(variants) {
  const kernel = (variant) => variant.split(" ")[0];
  return variants.filter((variant, index) => index === 0 || kernel(variant) !== kernel(variants[index - 1]));
}

/** Builds what makes the shim of V3D answer as the GPU of a Raspberry Pi 5. Returns its path. */
async function v3dFilter({ gcc }) {
  const library = path.join(root, "target/emulated/v3d_71.so");
  const { code } = await run(gcc, ["-shared", "-fPIC", "-O1", path.join(root, "scripts/compilers/v3d_71.c"), "-o", library]);
  if (code !== 0) throw new Remedy("scripts/compilers/v3d_71.c does not build");
  return library;
}

/** Returns the driver of a device, the program for its architecture, and what runs it: `{libraries, manifests, shim, launcher, program}`. */
export async function toolsFor({ architecture, driver, needs }) {
  const drivers = await unpackedDrivers(architecture);
  const shim = needs === "built" ? await intelShim() : path.join(drivers.libraries, `lib${driver}_noop_drm_shim.so`);
  if (needs !== "emulated") {
    await build(["--all-features"]);
    return { ...drivers, shim, launcher: [drivers.linker], program: here };
  }
  const tools = await arm64Tools();
  // Without the engine that needs NVIDIA's driver, which halves the time of the build.
  await build(["--target", arm64Target, "--no-default-features", "--features", "wgpu"], arm64Variables(tools));
  const program = path.join(root, "target/emulated", arm64Target, "debug/examples", example);
  const preload = driver === "v3d" ? `${await v3dFilter(tools)}:${shim}` : shim;
  return { ...drivers, shim: preload, launcher: [tools.qemu, drivers.linker], program };
}
