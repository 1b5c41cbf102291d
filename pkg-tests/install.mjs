// Packs the package and installs it in temporary folders.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output, root, run } from "../scripts/build/run.mjs";

const fixtures = join(root, "pkg-tests/fixtures");
const scopes = ["page.js", "page-worker.js", "shared-worker.js", "service-worker.js"];
/** The folders of static files of some tools. */
const publicFolders = { vite: "public", next: "public", nuxt: "public", sveltekit: "static" };
const shared = ["options.js", "round-trip.js", "entries.js", "entries-worker.js", ...scopes];

/** Creates a temporary folder for all files of a run, in `parent`. */
export async function makeWorkplace(parent = tmpdir()) {
  const folder = await mkdtemp(join(parent, "pagepress-package-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Packs the package from `dist`; returns the path of the tarball and the paths in it. */
export async function pack(folder) {
  const packed = await output("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]);
  const found = JSON.parse(packed);
  // npm 11 prints a list, newer versions an object by package name.
  const [{ filename, files }] = Array.isArray(found) ? found : Object.values(found);
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
}

/** Returns at least 2.5 MB of real files, enough to be split among workers. */
async function sample() {
  const files = ["Cargo.lock", "package-lock.json", "LICENSE-APACHE", "dist/cpu_bg.wasm"];
  const once = await Promise.all(files.map((file) => readFile(join(root, file))));
  const all = Buffer.concat(once);
  return Buffer.concat(Array.from({ length: Math.ceil(2_500_000 / all.length) }, () => all));
}

/**
 * Copies the fixture `name` of the folder `from`, installs the tarball in it with npm, and returns its folder.
 *
 * The files of the fixture import the package as `entry`.
 */
export async function installFixture(folder, name, tarball, entry = "pagepress", from = fixtures) {
  const place = join(folder, name);
  await mkdir(place, { recursive: true });
  for (const file of shared) await cp(join(fixtures, file), join(place, file));
  await cp(join(from, name), place, { recursive: true });
  const script = join(place, "round-trip.js");
  await writeFile(script, (await readFile(script, "utf8")).replace('from "pagepress"', `from "${entry}"`));
  const dist = /^(.*dist\/)index\.js$/.exec(entry)?.[1];
  if (dist !== undefined) {
    const others = join(place, "entries.js");
    await writeFile(others, (await readFile(others, "utf8")).replace(/from "pagepress(?:\/(.*))?"/g, (_, name = "index") => `from "${dist}${name}.js"`));
  }
  const publicFolder = publicFolders[name];
  for (const at of [place, ...(publicFolder ? [join(place, publicFolder)] : [])]) {
    await mkdir(at, { recursive: true });
    await writeFile(join(at, "sample.txt"), await sample());
  }
  await writeFile(join(place, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  const flags = ["--no-audit", "--no-fund", "--offline", "--loglevel=error"];
  await run("npm", ["install", tarball, ...flags], { cwd: place, stdio: ["ignore", "ignore", "inherit"] });
  return place;
}
