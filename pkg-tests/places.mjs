// Tests hosts that need no further tools: CommonJS, pages opened from files, other origins, Trusted Types.
import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { output } from "../scripts/build/run.mjs";
import { launch, openPage } from "../tests/browser/harness/chromium.mjs";
import { serve } from "../tests/browser/harness/server.mjs";
import { installFixture } from "./install.mjs";
import { checkOutcomes, checkSite } from "./pages.mjs";
import { strictPolicy } from "./sites.mjs";

/** Checks the error of a package that cannot load its modules, which must name the remedy. */
function checkRemedy({ code, message }) {
  assert.equal(code, "MODULE_LOAD");
  assert.match(message, /pagepress\/inline/);
}

/** Bundles the script `name` of a fixture to `out` in the same folder. */
async function bundle(place, name, out, options) {
  const outfile = join(place, out);
  await build({ absWorkingDir: place, entryPoints: [join(place, name)], outfile, bundle: true, logLevel: "error", ...options });
  return outfile;
}

/** Runs the fixture `commonjs` as a CommonJS script of Node. */
async function runCommonJs(place, options = {}) {
  const script = await bundle(place, "main.js", "bundle.cjs", { format: "cjs", platform: "node", ...options });
  return JSON.parse(await output(process.execPath, [script], { cwd: place }));
}

/** Tests CommonJS in Node: `require`, and bundles such as those of editor extensions. */
export async function checkCommonJs(report, folder, tarball) {
  const main = await installFixture(join(folder, "main"), "commonjs", tarball);
  const inline = await installFixture(join(folder, "inline"), "commonjs", tarball, "pagepress/inline");
  const external = { packages: "external" };
  await report.run("CommonJS, require", async () => checkOutcomes(await runCommonJs(main, external), ["cpu"], true));
  await report.run("CommonJS, require inline", async () => checkOutcomes(await runCommonJs(inline, external), ["cpu"], true));
  await report.run("CommonJS, require resolves to the ES module", async () => {
    const require = createRequire(join(main, "main.js"));
    const required = require.resolve("pagepress");
    assert.equal(required, join(main, "node_modules/pagepress/dist/index.js"));
  });
  await report.run("CommonJS bundle, inline", async () => checkOutcomes(await runCommonJs(inline), ["cpu"], false));
  await report.run("CommonJS bundle, error", async () => checkRemedy(await runCommonJs(main)));
}

/** Opens the page at `url` and returns its result. */
async function resultOf(browser, url) {
  const page = await openPage(browser, url);
  await page.waitForFunction(() => globalThis.result, null, { timeout: 180_000 }).catch((error) => {
    throw new Error([error.message, ...page.faults].join("\n"));
  });
  const result = await page.evaluate(() => globalThis.result);
  await page.close();
  assert.deepEqual(page.faults, []);
  return result;
}

/** Tests pages opened from files: with a classic script, and with modules where the browser allows them. */
export async function checkFiles(report, folder, tarball) {
  const main = await installFixture(join(folder, "main"), "file", tarball);
  const inline = await installFixture(join(folder, "inline"), "file", tarball, "pagepress/inline");
  const browser = await launch("none", ["--allow-file-access-from-files"]);
  const run = async (place, page) => {
    await bundle(place, "page.js", "bundle.js", { format: "iife" });
    await bundle(place, "page.js", "module.js", { format: "esm" });
    return resultOf(browser, pathToFileURL(join(place, page)).href);
  };
  try {
    await report.run("file: page, inline", async () => checkOutcomes(await run(inline, "index.html"), ["cpu"], false));
    await report.run("file: page, error", async () => checkRemedy(await run(main, "index.html")));
    await report.run("file: page of modules, inline", async () => checkOutcomes(await run(inline, "module.html"), ["cpu"], false));
    await report.run("file: page of modules, error", async () => checkRemedy(await run(main, "module.html")));
  } finally {
    await browser.close();
  }
}

const anyOrigin = { "access-control-allow-origin": "*" };

/** Serves a page that imports the package from another origin, for which `%` stands in `policy`. */
async function openOtherOrigin(folder, tarball, policy) {
  const source = await installFixture(join(folder, "source"), "plain", tarball);
  const packages = await serve(join(source, "node_modules/pagepress"), anyOrigin);
  const { origin } = new URL(packages.url);
  const place = await installFixture(join(folder, "page"), "plain", tarball, `${origin}/dist/index.js`);
  const page = await serve(place, policy ? { "content-security-policy": policy.replaceAll("%", origin) } : {});
  const close = () => Promise.all([packages.close(), page.close()]);
  return { url: page.url, requests: packages.requests, close };
}

/** Tests pages that load the package from another origin, whose scripts cannot be workers. */
export async function checkOtherOrigin(report, browsers, folder, tarball) {
  const open = (name, policy) => () => openOtherOrigin(join(folder, name), tarball, policy);
  await checkSite(report, browsers, "other origin", open("free"), { scopes: ["window", "worker"], entries: false });
  const policy = "default-src 'none'; script-src 'self' % 'wasm-unsafe-eval'; connect-src 'self' %; worker-src 'self'";
  await checkSite(report, browsers, "other origin, strict policy", open("strict", policy), { scopes: ["window"], inPlace: true, entries: false });
}

/** Tests pages with Trusted Types: with a policy that allows the package's own policy, and with one that does not. */
export async function checkTrustedTypes(report, browsers, place) {
  const policy = `${strictPolicy}; require-trusted-types-for 'script'; trusted-types`;
  const open = (names) => () => serve(place, { "content-security-policy": `${policy} ${names}` });
  await checkSite(report, browsers, "Trusted Types", open("pagepress"), { scopes: ["window"], entries: false });
  await checkSite(report, browsers, "Trusted Types, no policy", open("'none'"), { scopes: ["window"], inPlace: true, entries: false });
}
