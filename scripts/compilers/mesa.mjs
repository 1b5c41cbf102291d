// Builds parts of Mesa that Debian does not have for x86-64, from the source package in Debian's stable suite: the drivers of Mali and of the
// Raspberry Pi with their drm-shims, and the drm-shim of Intel's driver. A shim answers the kernel's interface only, so that its version need
// not be that of the driver.
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Remedy, Skip, ask, root, run } from "../process.mjs";
import { aptFolder } from "./packages.mjs";

const folder = path.join(root, "target", "compilers-mesa");

/** The libraries that are built. */
const targets = [
  "src/broadcom/drm-shim/libv3d_noop_drm_shim.so",
  "src/broadcom/vulkan/libvulkan_broadcom.so",
  "src/intel/tools/libintel_noop_drm_shim.so",
  "src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so",
  "src/panfrost/vulkan/libvulkan_panfrost.so",
];

/** The names of the built drivers, which are those of their manifests too. */
const built = ["broadcom", "panfrost"];

/** The Debian packages that the build needs, by a program of theirs, or a file. */
const needed = {
  bison: () => findProgram("bison"),
  flex: () => findProgram("flex"),
  gcc: () => findProgram("gcc"),
  "glslang-tools": () => findProgram("glslangValidator"),
  "libexpat1-dev": () => existsSync("/usr/include/expat.h"),
  "libdrm-dev": () => existsSync("/usr/include/libdrm/drm.h"),
  "ninja-build": () => findProgram("ninja"),
  "pkg-config": () => findProgram("pkg-config"),
  "python3-venv": () => ask("python3", ["-c", "import ensurepip"]) !== null,
  "zlib1g-dev": () => existsSync("/usr/include/zlib.h"),
};

/** Parts of Mesa that these do not need. */
const off = ["egl", "gbm", "gles1", "gles2", "glx", "libunwind", "llvm", "lmsensors", "valgrind", "xmlconfig", "zstd"].map((part) => `-D${part}=disabled`);
const empty = ["gallium-drivers", "platforms", "video-codecs"].map((list) => `-D${list}=`);

/** Runs a program, and skips the check if it fails. */
async function attempt(command, args, options) {
  const { code, output } = await run(command, args, { minutes: 30, isQuiet: true, ...options });
  if (code !== 0) throw new Skip(`parts of Mesa cannot be built: ${command} ${args.join(" ")} failed:\n${output.slice(-2000)}`);
}

/** Installs Debian packages that are missing, as root. */
async function installTools() {
  const missing = () => Object.keys(needed).filter((name) => !needed[name]());
  if (missing().length > 0 && findProgram("apt-get") && process.getuid?.() === 0) {
    const args = ["install", "-y", "--no-install-recommends", ...missing()];
    await attempt("apt-get", args, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  }
  if (missing().length > 0) throw new Skip(`the build of Mesa needs packages: apt-get install ${missing().join(" ")}`);
}

/** Unpacks the source of Mesa into a folder. */
async function unpackSource(source) {
  const apt = await aptFolder(path.join(folder, "apt"), "amd64", "deb-src", "stable");
  await attempt("apt-get", ["-q", "--download-only", "--tar-only", "source", "mesa"], { cwd: folder, env: apt });
  const archive = readdirSync(folder).find((name) => name.startsWith("mesa_"));
  await mkdir(source);
  await attempt("tar", ["-xf", path.join(folder, archive), "-C", source, "--strip-components", "1"]);
}

/** Builds the libraries in a folder of the source. */
async function compile(source, build) {
  const tools = path.join(folder, "tools");
  await attempt("python3", ["-m", "venv", tools]);
  const [python, meson] = ["python", "meson"].map((name) => path.join(tools, "bin", name));
  await attempt(python, ["-m", "pip", "--quiet", "install", "meson", "mako", "pyyaml", "packaging", "setuptools"]);
  const env = { PATH: `${path.dirname(python)}${path.delimiter}${process.env.PATH}` };
  const parts = ["-Dtools=drm-shim,intel", `-Dvulkan-drivers=${built}`, "-Dopengl=false", ...off, ...empty];
  await attempt(meson, ["setup", build, source, "-Dbuildtype=release", ...parts], { env });
  await attempt("ninja", ["-C", build, ...targets], { env });
}

/** Builds what makes the shim of V3D answer as the GPU of a Raspberry Pi 5. */
async function compileFilter() {
  const { code } = await run("gcc", ["-shared", "-fPIC", "-O1", path.join(root, "scripts/compilers/v3d_71.c"), "-o", path.join(folder, "v3d_71.so")]);
  if (code !== 0) throw new Remedy("scripts/compilers/v3d_71.c does not build");
}

/** Writes the file by which the Vulkan loader finds a driver. */
async function writeManifest(name) {
  const ICD = { library_path: path.join(folder, `libvulkan_${name}.so`), api_version: "1.1.0" };
  await writeFile(path.join(folder, `${name}_icd.json`), JSON.stringify({ file_format_version: "1.0.0", ICD }));
}

/** Returns the folder of the libraries and manifests. Builds them, unless they are there: once, five minutes on two cores. */
export async function builtParts() {
  const complete = path.join(folder, "complete");
  if (existsSync(complete)) return folder;
  await installTools();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const source = path.join(folder, "mesa");
  const build = path.join(source, "build");
  await unpackSource(source);
  await compile(source, build);
  for (const target of targets) await copyFile(path.join(build, target), path.join(folder, path.basename(target)));
  await compileFilter();
  for (const name of built) await writeManifest(name);
  await rm(source, { recursive: true });
  await writeFile(complete, "");
  return folder;
}
