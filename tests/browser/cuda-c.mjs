// Runs the kernels of tests/cuda_c in Chromium, whose analysis of uniformity is stricter than that of naga.
//
// `PAGEPRESS_WRITE_CUDA_CASES=FILE cargo test --features cuda-c --test cuda_c written` writes the cases, then
// `node tests/browser/cuda-c.mjs FILE [PART OF A NAME]` runs them.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness/chromium.mjs";
import { Report } from "./harness/report.mjs";
import { serve } from "./harness/server.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

async function main() {
  const [file, filter] = process.argv.slice(2);
  if (!file) throw new Error("name the file of cases: node tests/browser/cuda-c.mjs FILE");
  const cases = JSON.parse(await readFile(file, "utf8"));
  const report = new Report(filter);
  const server = await serve(root);
  const browser = await launch("software");
  const page = await openPage(browser, `${server.url}tests/browser/index.html`);
  const run = (one) => import("/tests/browser/suite/cuda-c.js").then(({ runCudaCase }) => runCudaCase(one));
  for (const one of cases) {
    await report.run(`cuda-c / ${one.name} (${one.entry ?? "not compiled"})`, async () => {
      const error = await page.evaluate(run, one);
      if (error !== null) throw error;
    });
  }
  await browser.close();
  await server.close();
  report.finish();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
