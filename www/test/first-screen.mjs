// Tests of the first screen: the race that starts by itself, the headline, the install line, the links.
import { strict as assert } from "node:assert";
import { check, choose, finding, open, writeSample } from "./harness.mjs";

/** Maximum bytes of script, after gzip, that the document loads before the first interaction. */
const SCRIPT_BUDGET = 60_000;

export async function testFirstScreen(browser, url, gzipped) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await check("the race starts by itself and ends within the visitor's patience", async () => {
    const begin = performance.now();
    const page = await open(context, url, { race: true });
    await page.waitForFunction(() => window.__results.some(({ kind }) => kind === "bench"), null, { timeout: 60_000 });
    const [bench] = await page.evaluate(() => window.__results.filter(({ kind }) => kind === "bench"));
    console.log(`      the race ended ${Math.round(performance.now() - begin)} ms after the start`);
    assert.equal(bench.bytes, 4 << 20);
    assert.match(await page.locator("#headline").innerText(), /\d ×\s+the speed of/);
    assert.deepEqual(page.faults, []);
    await page.close();
  });

  await check("a file that is dropped during the first race replaces it", async () => {
    const page = await open(context, url, { race: true });
    await page.waitForFunction(() => document.querySelector('[data-state="running"]') !== null);
    writeSample("sooner.bin", 100_000);
    const bench = await finding(page, "bench", () => choose(page, "sooner.bin"));
    assert.equal(bench.name, "sooner.bin");
    await page.close();
  });

  await check("result and table are side by side, with install lines and links, on the first screen", async () => {
    const page = await open(context, url);
    const [side, table] = [await page.locator(".first-side").boundingBox(), await page.locator("#race").boundingBox()];
    assert.ok(table.x >= side.x + side.width && Math.abs(table.y - side.y) < 5, JSON.stringify({ side, table }));
    const bottom = async (selector) => {
      const box = await page.locator(selector).last().boundingBox();
      return box.y + box.height;
    };
    for (const selector of ["#headline", "#install .copyable", "#drop", "#rows tr:nth-child(5)"]) {
      assert.ok((await bottom(selector)) <= 800, `${selector} ends at ${await bottom(selector)} px`);
    }
    const install = await page.locator("#install code").allTextContents();
    assert.deepEqual(install, ["npm install pagepress", "cargo add pagepress"]);
    const links = await page.locator(".links a").evaluateAll((all) => all.map(({ href }) => new URL(href).hostname));
    assert.deepEqual(links, ["docs.rs", "docs.rs", "www.npmjs.com", "crates.io"]);
    await page.close();
  });

  await check("the document loads little script before the first interaction", async () => {
    const page = await open(context, url);
    await page.waitForTimeout(1000);
    const names = await page.evaluate(() =>
      performance.getEntriesByType("resource").filter(({ initiatorType, name }) => initiatorType === "script" || /\.js$/.test(new URL(name).pathname)).map(({ name }) => new URL(name).pathname),
    );
    const bytes = [...new Set(names)].reduce((sum, name) => sum + gzipped(name), 0);
    console.log(`      ${bytes} bytes of script, gzip, in ${names.length} files`);
    assert.ok(bytes > 0 && bytes <= SCRIPT_BUDGET, `${bytes} bytes: ${names.join()}`);
    await page.close();
  });
  await context.close();
}
