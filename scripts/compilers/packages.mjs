// Unpacks Mesa's drivers and drm-shim of Debian's testing suite, with the libraries that they need, into a folder. Nothing is
// installed.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Skip, root, run } from "../process.mjs";

const packages = ["mesa-vulkan-drivers", "mesa-drm-shim"];
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** The names of architectures in paths of Debian, and their dynamic linkers. */
const architectures = {
  amd64: { triple: "x86_64-linux-gnu", linker: "ld-linux-x86-64.so.2" },
  arm64: { triple: "aarch64-linux-gnu", linker: "ld-linux-aarch64.so.1" },
};

/** Returns the folder of an architecture's packages. */
const folderOf = (architecture) => path.join(root, "target", architecture === "amd64" ? "compilers" : `compilers-${architecture}`);

/** Returns a configuration of apt with its own lists, archives and state. */
const configuration = (folder, architecture) => `
Dir::Etc::SourceList "${folder}/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "${folder}/lists";
Dir::State::status "${folder}/status";
Dir::Cache "${folder}/cache";
APT::Architecture "${architecture}";
APT::Architectures "${architecture}";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Debug::NoLocking "true";
`;

/**
 * Makes an empty folder in which apt keeps its lists and archives of a suite, of kind "deb" or "deb-src", and gets the lists. Returns the
 * environment variables with which apt-get uses it.
 */
export async function aptFolder(folder, architecture, kind, suite) {
  if (!findProgram("apt-get") || !existsSync(keyring)) throw new Skip("Mesa's packages need Debian's apt-get");
  await rm(folder, { recursive: true, force: true });
  for (const name of ["lists/partial", "cache/archives/partial"]) await mkdir(path.join(folder, name), { recursive: true });
  await writeFile(path.join(folder, "sources.list"), `${kind} [signed-by=${keyring}] http://deb.debian.org/debian ${suite} main\n`);
  await writeFile(path.join(folder, "status"), "");
  await writeFile(path.join(folder, "apt.conf"), configuration(folder, architecture));
  const env = { APT_CONFIG: path.join(folder, "apt.conf") };
  const { code } = await run("apt-get", ["-q", "update"], { env, minutes: 20 });
  if (code !== 0) throw new Skip("the lists of Debian's packages cannot be downloaded: apt-get update failed");
  return env;
}

/** Returns the unpacked drivers of "amd64" or "arm64": the folder of their libraries, their dynamic linker, and the folder of their manifests. */
export async function unpackedDrivers(architecture) {
  const folder = folderOf(architecture);
  const unpacked = path.join(folder, "root");
  const { triple, linker } = architectures[architecture];
  const libraries = path.join(unpacked, "usr/lib", triple);
  const found = { libraries, linker: path.join(libraries, linker), manifests: path.join(unpacked, "usr/share/vulkan/icd.d") };
  if (existsSync(path.join(folder, "complete"))) return found;
  if (!findProgram("dpkg")) throw new Skip("Mesa's packages need Debian's dpkg");
  const env = await aptFolder(folder, architecture, "deb", "testing");
  await mkdir(unpacked);
  const { code } = await run("apt-get", ["-q", "-y", "--download-only", "install", ...packages], { env, minutes: 20 });
  if (code !== 0) throw new Skip("Mesa's packages cannot be downloaded: apt-get failed");
  const archives = path.join(folder, "cache/archives");
  for (const name of readdirSync(archives).filter((file) => file.endsWith(".deb"))) {
    const { code } = await run("dpkg", ["-x", path.join(archives, name), unpacked]);
    if (code !== 0) throw new Skip(`${name} cannot be unpacked`);
  }
  await writeFile(path.join(folder, "complete"), "");
  return found;
}
