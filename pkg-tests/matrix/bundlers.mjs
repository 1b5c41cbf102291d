// Tests older versions of the project's bundlers, and other bundlers, in their default configuration.
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "../../scripts/build/run.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";
import { installFixture } from "../install.mjs";
import { checkEntries, checkSite } from "../pages.mjs";
import { buildWithVite, startVite } from "../sites.mjs";

const scopes = ["window", "worker", "shared"];

/** Tests Vite 5 to 7, in development and built. They build workers as classic scripts. */
export async function checkVites(report, browsers, folder, tarball, tools) {
  for (const version of [5, 6, 7]) {
    const vite = join(tools, "node_modules", `vite${version}`);
    const fixture = (use) => installFixture(join(folder, `vite${version}`, use), "vite", tarball);
    const start = async () => startVite(await fixture("start"), pathToFileURL(join(vite, "dist/node/index.js")).href);
    await checkSite(report, browsers, `Vite ${version}, development`, start, { scopes });
    const build = async () => buildWithVite(await fixture("build"), join(vite, "bin/vite.js"));
    await checkSite(report, browsers, `Vite ${version}, build`, build, { scopes });
  }
}

async function buildWithParcel(place, tools) {
  const out = join(place, "built");
  await mkdir(out, { recursive: true });
  const args = ["build", "index.html", "--dist-dir", out, "--public-url", "./", "--no-cache", "--log-level", "error"];
  await run(process.execPath, [join(tools, "node_modules/parcel/lib/bin.js"), ...args], { cwd: place });
  await cp(join(place, "sample.txt"), join(out, "sample.txt"));
  return serve(out);
}

/**
 * Tests Parcel 2, which ignores `exports` by default. Only one worker is used: two that share a script do not start
 * when built by Parcel.
 */
export async function checkParcel(report, browsers, folder, tarball, tools) {
  const open = (name, unused) => async () => {
    const place = await installFixture(join(folder, name), "plain", tarball);
    for (const worker of unused) await writeFile(join(place, `${worker}.js`), "");
    return buildWithParcel(place, tools);
  };
  const main = open("parcel", ["shared-worker", "entries-worker"]);
  await checkSite(report, browsers, "Parcel 2", main, { scopes: ["window", "worker"], entries: false });
  await report.run("Parcel 2 [other entries]", async () => {
    const site = await open("parcel-entries", ["shared-worker", "page-worker"])();
    await checkEntries(browsers.none, site).finally(() => site.close());
  });
}
