// Builds `examples/compile_kernels.rs` for the processors of the drivers, and finds what runs it.
import path from "node:path";
import { spawnSync } from "node:child_process";
import { arm64Target, arm64Tools, arm64Variables } from "../arm64.mjs";
import { Remedy, root, run } from "../process.mjs";
import { tested } from "../steps.mjs";
import { commandFor } from "./compile.mjs";
import { builtParts } from "./mesa.mjs";
import { unpackedDrivers } from "./packages.mjs";

const example = "compile_kernels";

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

/** Returns the driver of a device, the program for its architecture, and what runs it: `{libraries, manifests, shim, launcher, program}`. */
export function toolsFor(device) {
  return device.emulated ? emulatedTools(device) : nativeTools(device);
}

async function nativeTools({ driver, built }) {
  const { libraries, manifests, linker } = await unpackedDrivers("amd64");
  const parts = built ? await builtParts() : libraries;
  const shim = path.join(parts, `lib${driver}_noop_drm_shim.so`);
  // As native tests do, so that nothing is built again.
  await build([...tested, "--all-features"]);
  return {
    libraries,
    manifests: built === "driver" ? parts : manifests,
    shim: driver === "v3d" ? `${path.join(parts, "v3d_71.so")}:${shim}` : shim,
    launcher: [linker],
    program: path.join(root, "target/debug/examples", example),
  };
}

async function emulatedTools({ driver }) {
  const { libraries, manifests, linker } = await unpackedDrivers("arm64");
  const tools = await arm64Tools();
  // Without the engine that needs NVIDIA's driver, which halves the time of the build.
  await build(["--target", arm64Target, "--no-default-features", "--features", "wgpu"], arm64Variables(tools));
  return {
    libraries,
    manifests,
    shim: path.join(libraries, `lib${driver}_noop_drm_shim.so`),
    launcher: [tools.qemu, linker],
    program: path.join(root, "target/emulated", arm64Target, "debug/examples", example),
  };
}
