// The package in a real browser: window and dedicated worker, on a software GPU and on none.
// Needs dist/: `npm run build`. With an argument only the cases whose line holds it.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness/chromium.mjs";
import { Report } from "./harness/report.mjs";
import { serve } from "./harness/server.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const CASE_TIMEOUT_MS = 120_000;

const runs = [
  { gpu: "software", scopes: ["window"], suites: ["shaders"] },
  { gpu: "software", scopes: ["window", "worker"], suites: ["behaviour", "conformance", "cpu", "streams-with-gpu"] },
  { gpu: "none", scopes: ["window", "worker"], suites: ["cpu-without-gpu", "calls", "streams"] },
];

const withTimeout = (work) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${CASE_TIMEOUT_MS / 1000} s`)), CASE_TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

async function runSuite(browser, report, { gpu, scope, suite, url, shaders }) {
  const page = await openPage(browser, `${url}tests/browser/index.html`);
  await page.waitForFunction(() => globalThis.tests);
  const names = await page.evaluate(([of, files]) => globalThis.tests.namesOf(of, files), [suite, shaders]);
  for (const name of names) {
    const line = `${suite} / ${name} [${scope}, ${gpu}]`;
    if (!line.includes(process.argv[2] ?? "")) continue;
    await report.run(line, async () => {
      const call = page.evaluate(([where, what]) => globalThis.tests[where](what), [scope, { suite, name, shaders }]);
      const error = await withTimeout(call);
      if (error !== null) throw error;
      if (page.faults.length > 0) throw new Error(page.faults.splice(0).join("\n"));
    });
  }
  await page.close();
}

async function main() {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist/ is missing; run: npm run build");
  const shaders = (await readdir(join(root, "shaders"))).filter((name) => name.endsWith(".wgsl"));
  const report = new Report();
  const server = await serve(root);
  for (const { gpu, scopes, suites } of runs) {
    const browser = await launch(gpu);
    for (const scope of scopes) {
      for (const suite of suites) await runSuite(browser, report, { gpu, scope, suite, url: server.url, shaders });
    }
    await browser.close();
  }
  await server.close();
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
