// Builds the drm-shim of Intel's driver, which Debian does not have, from the source package of Mesa in Debian's stable suite: the shim answers
// the kernel's interface only, so that its version need not be that of the driver.
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Skip, root, run } from "../process.mjs";
import { aptFolder } from "./packages.mjs";

const folder = path.join(root, "target", "compilers-intel");
const target = "src/intel/tools/libintel_noop_drm_shim.so";
const library = path.join(folder, path.basename(target));

/** The Debian packages that the build needs, by a program of theirs, or a file. */
const needed = {
  bison: () => findProgram("bison"),
  flex: () => findProgram("flex"),
  "libdrm-dev": () => existsSync("/usr/include/libdrm/drm.h"),
  "ninja-build": () => findProgram("ninja"),
  "pkg-config": () => findProgram("pkg-config"),
  "python3-venv": () => findProgram("python3"),
  "zlib1g-dev": () => existsSync("/usr/include/zlib.h"),
};

/** Parts of Mesa that the shim does not need. */
const off = ["egl", "gbm", "gles1", "gles2", "glx", "libunwind", "llvm", "lmsensors", "valgrind", "xmlconfig", "zstd"].map((part) => `-D${part}=disabled`);
const empty = ["gallium-drivers", "platforms", "video-codecs", "vulkan-drivers"].map((list) => `-D${list}=`);

/** Runs a program, and skips the check if it fails. */
async function attempt(command, args, options) {
  const { code, output } = await run(command, args, { minutes: 30, isQuiet: true, ...options });
  if (code !== 0) throw new Skip(`Intel's drm-shim cannot be built: ${command} ${args.join(" ")} failed:\n${output.slice(-2000)}`);
}

/** Installs Debian packages that are missing, as root. */
async function installTools() {
  const missing = () => Object.keys(needed).filter((name) => !needed[name]());
  if (missing().length > 0 && findProgram("apt-get") && process.getuid?.() === 0) {
    const args = ["install", "-y", "--no-install-recommends", ...missing()];
    await attempt("apt-get", args, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  }
  if (missing().length > 0) throw new Skip(`Intel's drm-shim needs packages: apt-get install ${missing().join(" ")}`);
}

/** Returns the path of the shim. Builds it in target/compilers-intel, unless it is there: once, a minute or two. */
export async function intelShim() {
  if (existsSync(library)) return library;
  await installTools();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const apt = await aptFolder(path.join(folder, "apt"), "amd64", "deb-src", "stable");
  await attempt("apt-get", ["-q", "--download-only", "--tar-only", "source", "mesa"], { cwd: folder, env: apt });
  const archive = readdirSync(folder).find((name) => name.startsWith("mesa_"));
  const source = path.join(folder, "mesa");
  await mkdir(source);
  await attempt("tar", ["-xf", path.join(folder, archive), "-C", source, "--strip-components", "1"]);
  const tools = path.join(folder, "tools");
  await attempt("python3", ["-m", "venv", tools]);
  const [python, meson] = ["python", "meson"].map((name) => path.join(tools, "bin", name));
  await attempt(python, ["-m", "pip", "--quiet", "install", "meson", "mako", "pyyaml", "packaging", "setuptools"]);
  const env = { PATH: `${path.dirname(python)}${path.delimiter}${process.env.PATH}` };
  const build = path.join(source, "build");
  await attempt(meson, ["setup", build, source, "-Dbuildtype=release", "-Dtools=drm-shim,intel", "-Dopengl=false", ...off, ...empty], { env });
  await attempt("ninja", ["-C", build, target], { env });
  await copyFile(path.join(build, target), library);
  await rm(source, { recursive: true });
  return library;
}
