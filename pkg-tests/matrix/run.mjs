// Tests the packed tarball with older and other tools. Needs dist/: `npm run build`, and the network once. An argument
// selects the cases whose line contains it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/build/run.mjs";
import { exitWith, Remedy } from "../../scripts/process.mjs";
import { Report } from "../../tests/browser/harness/report.mjs";
import { makeWorkplace, pack } from "../install.mjs";
import { openBrowsers } from "../pages.mjs";
import { checkParcel, checkVites } from "./bundlers.mjs";
import { checkNuxt, checkSvelteKit } from "./frameworks.mjs";
import { installTree } from "./install.mjs";
import { checkJest, checkNodes, checkVitest, nodeOf } from "./runtimes.mjs";

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Remedy("dist/ is missing; run: npm run build");
  const [tools, svelteKit, nuxt] = [await installTree("tools"), await installTree("sveltekit"), await installTree("nuxt")];
  const report = new Report(process.argv[2]);
  const browsers = await openBrowsers();
  const { folder, remove } = await makeWorkplace();
  try {
    const { tarball } = await pack(folder);
    await checkNodes(report, folder, tarball, tools);
    await checkJest(report, folder, tarball, tools);
    await checkVitest(report, folder, tarball, tools);
    await checkVites(report, browsers, folder, tarball, tools);
    await checkParcel(report, browsers, folder, tarball, tools);
    // SvelteKit 3 requires Node 22.
    const node = nodeOf(tools, 22);
    await checkSvelteKit(report, browsers, tarball, { tree: svelteKit, node });
    await checkNuxt(report, browsers, tarball, { tree: nuxt, node });
  } finally {
    await browsers.close();
    await remove();
  }
  report.finish();
}

await exitWith(main);
