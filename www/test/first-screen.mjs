// Tests of the first screen: the race that starts by itself, the headline, the install line, the links.
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { check, choose, clipboard, finding, measureOnly, open, openTab, writeSample } from "./harness.mjs";

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

  await check("a link sets options and sample data, and ignores what does not exist", async () => {
    const page = await open(context, `${url}#compress?level=high&block=4096&rounds=99&size=14&sample=json&index=1&other=1`);
    const values = await page.evaluate(() => ["level", "block-size", "runs", "sample-size", "sample"].map((id) => document.getElementById(id).value));
    assert.deepEqual(values, ["high", "4096", "5", "14", "json"]);
    assert.ok(await page.evaluate(() => document.getElementById("index").checked));
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click("#copy-link");
    const link = new URL(await clipboard(page, "#compress?"));
    assert.equal(link.hash, "#compress?block=4096&level=high&engine=auto&rounds=5&sample=json&size=14&index=1");
    await page.close();
  });

  await check("a race is saved as a picture, and results as files", async () => {
    const page = await open(context, url);
    await measureOnly(page, "one", "lz4-wasm");
    assert.ok(await page.locator("#save-picture").isDisabled());
    await finding(page, "bench", () => page.click("#again"));
    const saved = async (button) => {
      const [event] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
      return [event.suggestedFilename(), readFileSync(await event.path())];
    };
    const [name, png] = await saved("#save-picture");
    assert.equal(name, "pagepress-race.png");
    assert.deepEqual([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)], ["PNG", 1200, 630]);
    await openTab(page, "verify");
    const [, markdown] = await saved("#save-markdown");
    assert.ok(markdown.toString().includes("| lz4-wasm: WebAssembly, one thread |"), markdown.toString());
    const [, json] = await saved("#save-json");
    assert.equal(JSON.parse(json.toString()).findings[0].kind, "bench");
    await page.close();
  });

  await check("other sites get a title, a text and a picture for a preview", async () => {
    const page = await open(context, url);
    const tags = await page.locator("meta[property]").evaluateAll((all) => Object.fromEntries(all.map((one) => [one.getAttribute("property"), one.content])));
    for (const name of ["og:title", "og:description", "og:image"]) assert.ok(tags[name], JSON.stringify(tags));
    const { ok, type } = await page.evaluate(async (address) => {
      const response = await fetch(address);
      return { ok: response.ok, type: response.headers.get("content-type") };
    }, tags["og:image"]);
    assert.ok(ok && type === "image/webp", type);
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
