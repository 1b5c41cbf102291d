// Tests versions of Node, and test runners.
import { strict as assert } from "node:assert";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { output, run } from "../../scripts/build/run.mjs";
import { installFixture } from "../install.mjs";
import { checkOutcomes } from "../pages.mjs";

const fixtures = fileURLToPath(new URL("fixtures", import.meta.url));

/** Returns the path of a version of Node. */
export const nodeOf = (tools, version) => join(tools, "node_modules", `node${version}`, "bin/node");

/** Tests every maintained release line of Node, with `import` and with `require`. */
export async function checkNodes(report, folder, tarball, tools) {
  for (const version of [20, 22, 24]) {
    const node = nodeOf(tools, version);
    const place = await installFixture(join(folder, `node${version}`), "node", tarball);
    const check = async (...args) => checkOutcomes(JSON.parse(await output(node, args, { cwd: place })), ["cpu"], true);
    await report.run(`Node ${version}`, async () => {
      assert.match(await output(node, ["--version"]), new RegExp(`^v${version}\\.`));
      await check("main.mjs");
      await check("main.mjs", "subpath");
    });
    await report.run(`Node ${version}, require`, async () => {
      await bundleRoundTrip(place);
      await check("--eval", requiring);
    });
  }
}

/** A script that requires the package. */
const requiring = `
  const bytes = new Uint8Array(require("node:fs").readFileSync("sample.txt"));
  require("./round-trip.cjs").roundTrip(bytes, [{ backend: "auto" }]).then((outcomes) => console.log(JSON.stringify(outcomes)));
`;

/** Writes `round-trip.cjs`, a copy of `round-trip.js` that requires the package. */
async function bundleRoundTrip(place) {
  const [entry, outfile] = [join(place, "round-trip.js"), join(place, "round-trip.cjs")];
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "cjs", packages: "external" });
}

/** Tests Jest without configuration, which uses CommonJS, and with its jsdom environment. */
export async function checkJest(report, folder, tarball, tools) {
  const jsdom = ["--env", join(tools, "node_modules/jest-environment-jsdom")];
  const uses = [["Node", "pagepress", []], ["inline", "pagepress/inline", []], ["jsdom", "pagepress", jsdom]];
  for (const version of [29, 30]) {
    for (const [use, entry, flags] of uses) {
      await report.run(`Jest ${version}, ${use}`, async () => {
        const place = await installFixture(join(folder, `jest${version}`, use), "jest", tarball, entry, fixtures);
        await writeFile(join(place, "package.json"), JSON.stringify({ name: "jest", private: true }));
        await bundleRoundTrip(place);
        await run(process.execPath, [join(tools, "node_modules", `jest${version}`, "bin/jest.js"), "--silent", ...flags], { cwd: place });
        checkOutcomes(await outcomesOf(place), ["cpu"], true);
      });
    }
  }
}

/** Tests Vitest without configuration. */
export async function checkVitest(report, folder, tarball, tools) {
  await report.run("Vitest", async () => {
    const place = await installFixture(folder, "vitest", tarball, "pagepress", fixtures);
    await run(process.execPath, [join(tools, "node_modules/vitest/vitest.mjs"), "run", "--globals", "--silent"], { cwd: place });
    checkOutcomes(await outcomesOf(place), ["cpu"], true);
  });
}

/** Reads the outcome that a test wrote. */
const outcomesOf = async (place) => JSON.parse(await readFile(join(place, "outcomes.json"), "utf8"));
