// Builds the C interface and installs header, libraries and pkg-config file: node capi/install.mjs PREFIX [FLAGS OF CARGO]
//
// `DESTDIR` in the environment goes before the prefix, as packagers expect. Flags are, for example, `--features cuda` or
// `--no-default-features`; the profile is `release` unless one is given.
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { Remedy, ask, exitWith, root, run } from "../scripts/process.mjs";

/** Libraries that programs need beside the static one. rustc prints them; no other tool knows. */
async function privateLibraries(flags) {
  const { code, output } = await run("cargo", ["rustc", "--package", "pagepress-capi", "--lib", "--crate-type", "staticlib", ...flags, "--", "--print", "native-static-libs"]);
  if (code !== 0) throw new Remedy("cargo failed");
  const found = [...output.matchAll(/native-static-libs: (.*)/g)].pop()?.[1];
  if (found) return [...new Set(found.split(" "))].join(" ");
  // Cargo prints nothing if the library is fresh. These are those of Linux.
  return "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";
}

/** Returns the folder with the results of cargo. */
function outputFolder(flags) {
  const metadata = JSON.parse(ask("cargo", ["metadata", "--format-version", "1", "--no-deps"]) ?? "{}");
  const at = flags.indexOf("--profile");
  const profile = at < 0 ? "release" : flags[at + 1];
  return path.join(metadata.target_directory, profile === "dev" ? "debug" : profile);
}

/** Installs the shared library under its version, with the names by which loaders and linkers find it. */
async function installShared(from, lib, version) {
  if (process.platform === "darwin") {
    await cp(path.join(from, "libpagepress_capi.dylib"), path.join(lib, "libpagepress.0.dylib"));
    await link("libpagepress.0.dylib", path.join(lib, "libpagepress.dylib"));
    return;
  }
  await cp(path.join(from, "libpagepress_capi.so"), path.join(lib, `libpagepress.so.${version}`));
  await link(`libpagepress.so.${version}`, path.join(lib, "libpagepress.so.0"));
  await link("libpagepress.so.0", path.join(lib, "libpagepress.so"));
}

async function link(to, name) {
  await rm(name, { force: true });
  await symlink(to, name);
}

/** Installs to `prefix`, an absolute path, and returns the folder that has `include` and `lib`. */
export async function install(prefix, given) {
  if (!path.isAbsolute(prefix)) throw new Remedy(`${prefix} is no absolute path; give one, such as /usr/local`);
  if (process.platform === "win32") throw new Remedy("there is no installation on Windows; link target/release/pagepress_capi.lib and capi/include");
  const flags = given.includes("--profile") ? given : ["--release", ...given];
  const { code } = await run("cargo", ["build", "--package", "pagepress-capi", ...flags]);
  if (code !== 0) throw new Remedy("cargo failed");
  const from = outputFolder(flags);
  const version = /^version = "([^"]+)"/m.exec(await readFile(path.join(root, "Cargo.toml"), "utf8").then((text) => text.slice(text.indexOf("[workspace.package]"))))?.[1];
  const folder = path.join(process.env.DESTDIR ?? "", prefix);
  const lib = path.join(folder, "lib");
  await mkdir(path.join(folder, "include"), { recursive: true });
  await mkdir(path.join(lib, "pkgconfig"), { recursive: true });
  await cp(path.join(root, "capi/include/pagepress.h"), path.join(folder, "include/pagepress.h"));
  await cp(path.join(from, "libpagepress_capi.a"), path.join(lib, "libpagepress.a"));
  await installShared(from, lib, version);
  const values = { PREFIX: prefix, VERSION: version, PRIVATE: await privateLibraries(flags) };
  const template = await readFile(path.join(root, "capi/pagepress.pc.in"), "utf8");
  await writeFile(path.join(lib, "pkgconfig/pagepress.pc"), template.replaceAll(/@(\w+)@/g, (_, name) => values[name]));
  return folder;
}

if (process.argv[1] === import.meta.filename) {
  await exitWith(async () => {
    const [prefix, ...flags] = process.argv.slice(2);
    if (!prefix) throw new Remedy("usage: node capi/install.mjs PREFIX [FLAGS OF CARGO]");
    console.log(`installed in ${await install(path.resolve(prefix), flags)}`);
  });
}
