// Tests of the page's looks: forced colours, print, phones.
import { writeFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { at, check, choose, finding, measureOnly, mountRooms, open, openTab } from "./harness.mjs";
import { knownPages } from "./inspect.mjs";

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

export async function testLooks(browser, url) {
  await check("with forced colours the map keeps its colours, and bars stay visible", async () => {
    const context = await browser.newContext({ forcedColors: "active" });
    const page = await open(context, url);
    await measureOnly(page, "one");
    writeFileSync(at("forced.bin"), knownPages(30));
    await finding(page, "bench", () => choose(page, "forced.bin"));
    assert.ok(await differsFromTrack(page), "the bar has the colour of its track");
    await finding(page, "map", () => openTab(page, "inspect"));
    const colours = await page.evaluate(() => {
      const canvas = document.getElementById("map");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
    assert.ok(colours >= 4, `${colours} colours`);
    await context.close();
  });

  await check("no tab needs horizontal scrolling at 800 and 1280 px", async () => {
    for (const width of [800, 1280]) {
      const page = await open(browser, url);
      await page.setViewportSize({ width, height: 800 });
      for (const tab of ["compress", "inspect", "verify", "gpu", "learn"]) {
        if (tab !== "compress") await openTab(page, tab);
        await mountRooms(page);
        const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(content <= screen, `${tab}: ${content} px of content on ${screen} px`);
      }
      await page.close();
    }
  });

  await check("bars are printed", async () => {
    const page = await open(browser, url);
    await page.emulateMedia({ media: "print" });
    const adjust = await page.evaluate(() => getComputedStyle(document.querySelector("#rows .fill")).printColorAdjust);
    assert.equal(adjust, "exact");
    assert.ok(!(await page.locator("#drop").isVisible()), "controls are printed");
    await page.close();
  });

  await check("on a phone tabs, badge and columns are on the screen, and no code is under a button", async () => {
    const context = await browser.newContext(phone);
    const page = await open(context, url);
    const off = (selector) =>
      page.locator(selector).evaluateAll((all) =>
        all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.id || one.textContent),
      );
    assert.deepEqual(await off("[role=tab], #badge, #badge-note"), []);
    const cut = await page.evaluate(() =>
      ["badge", "badge-note"].filter((id) => {
        const { scrollWidth, clientWidth } = document.getElementById(id);
        return clientWidth > 0 && scrollWidth > clientWidth + 1;
      }),
    );
    assert.deepEqual(cut, [], "a text is cut");
    await openTab(page, "gpu");
    await page.selectOption("#matmul-most", "256");
    await finding(page, "matmul", () => page.click("#matmul-start"));
    assert.deepEqual(await off("#matmul-rows td"), []);
    await openTab(page, "learn");
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll("#panel-learn .copyable")].filter((one) => {
        const [range, button] = [document.createRange(), one.querySelector("button").getBoundingClientRect()];
        range.selectNodeContents(one.querySelector("code"));
        return [...range.getClientRects()].some((line) => line.right > button.left && line.left < button.right && line.bottom > button.top && line.top < button.bottom);
      }).length,
    );
    assert.equal(covered, 0, "code runs under the Copy button");
    await context.close();
  });
}

function differsFromTrack(page) {
  return page.evaluate(() => {
    const fill = document.querySelector('[data-engine="one"] .fill');
    return getComputedStyle(fill).backgroundColor !== getComputedStyle(fill.parentElement).backgroundColor;
  });
}
