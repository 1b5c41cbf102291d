// Tests of the page in the environments of visitors: no WebGPU, a slow machine, a phone, a dark theme, keyboard only, no
// network, no https; and its budgets.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { strict as assert } from "node:assert";
import { root } from "../../scripts/process.mjs";
import { launch } from "../../tests/browser/harness/chromium.mjs";
import { check, choose, finding, measureOnly, mountRooms, open, openTab, writeSample } from "./harness.mjs";

/** Budgets for sizes in bytes after gzip, and for times in milliseconds. */
const budgets = {
  /** Document, style sheets and script of the first paint. */
  firstPaintGzip: 36_000,
  /** All files, which the service worker caches. */
  everythingGzip: 1_275_000,
  /** Longest task of the page's main thread during benchmarks. Generous, as CI has two busy cores. */
  longTaskMs: 250,
  /** Cumulative layout shift. */
  layoutShift: 0.02,
  /** Time from navigation to first contentful paint. */
  firstPaintMs: 1000,
};

const dist = path.join(root, "www/dist");
const gzipped = (file) => gzipSync(readFileSync(file), { level: 9 }).length;
/** Returns true for the files that the service worker caches. */
const isCached = (file) => !/^(tensorflow|cuda_bg)-/.test(path.basename(file));
const allFiles = () => readdirSync(dist, { recursive: true }).map((name) => path.join(dist, name)).filter((name) => path.extname(name));

/** Returns the serious and critical violations that axe finds on the open tab. */
async function seriousFaults(page) {
  const source = readFileSync(path.join(root, "node_modules/axe-core/axe.min.js"), "utf8");
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

export async function testBudgets(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 1000 } });
  const page = await open(context, url);
  await check("first paint and all files are within their size budgets", async () => {
    const page = readFileSync(path.join(dist, "index.html"), "utf8");
    const named = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => path.join(dist, name));
    assert.ok(named.length >= 2, "no script or style found");
    const first = [path.join(dist, "index.html"), ...named].reduce((sum, file) => sum + gzipped(file), 0);
    const everything = allFiles().filter(isCached).reduce((sum, file) => sum + gzipped(file), 0);
    console.log(`      first paint ${first} bytes, everything ${everything} bytes, gzip`);
    assert.ok(first <= budgets.firstPaintGzip, `${first} bytes`);
    assert.ok(everything <= budgets.everythingGzip, `${everything} bytes`);
  });

  await check("first paint, layout shift and longest task during benchmarks are within their budgets", async () => {
    await measureOnly(page, "cpu", "lz4-wasm", "fflate");
    await page.evaluate(() => {
      window.__long = [];
      new PerformanceObserver((list) => window.__long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
    });
    await page.evaluate(() => (document.getElementById("options").open = false));
    writeSample("budget.bin", 3_000_000);
    await page.evaluate(() => scrollTo(0, 0));
    await finding(page, "bench", () => choose(page, "budget.bin"));
    await page.evaluate(() => (window.__benchDone = performance.now()));
    for (const tab of ["inspect", "verify", "gpu", "learn", "compress"]) {
      await openTab(page, tab);
      await page.waitForTimeout(200);
    }
    const measured = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const until = window.__benchDone;
          const [paint] = performance.getEntriesByName("first-contentful-paint");
          let shift = 0;
          new PerformanceObserver((list) => {
            // Counts shifts soon after a drop as well, which must not move the layout; not those of opening tabs.
            for (const { value, startTime } of list.getEntries()) if (startTime < until) shift += value;
            resolve({ long: window.__long, paint: paint.startTime, shift });
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve({ long: window.__long, paint: paint.startTime, shift }), 500);
        }),
    );
    const longest = Math.max(0, ...measured.long);
    console.log(`      first paint ${Math.round(measured.paint)} ms, longest task ${Math.round(longest)} ms, shift ${measured.shift.toFixed(4)}`);
    assert.ok(measured.paint <= budgets.firstPaintMs, `first paint after ${measured.paint} ms`);
    assert.ok(longest <= budgets.longTaskMs, `a task of ${longest} ms`);
    assert.ok(measured.shift <= budgets.layoutShift, `layout shift ${measured.shift}`);
  });
  await context.close();
}

/** Runs axe on every tab in both themes, and tests the theme button. */
export async function testAccessibility(page) {
  for (const theme of ["light", "dark"]) {
    await check(`axe finds no serious violation, ${theme} theme`, async () => {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      const faults = [];
      for (const tab of ["compress", "inspect", "verify", "gpu", "learn"]) {
        await openTab(page, tab);
        await mountRooms(page);
        await page.waitForTimeout(200);
        faults.push(...(await seriousFaults(page)).map((fault) => `${tab}: ${fault}`));
      }
      assert.deepEqual(faults, []);
    });
  }

  await check("the theme button switches the theme, which persists over a reload", async () => {
    await page.emulateMedia({ colorScheme: "light" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.click("#theme");
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.reload();
    await page.waitForFunction(() => window.__backend !== null);
    assert.equal(await paper(), dark);
    await page.click("#theme");
    assert.equal(await paper(), light);
  });
}

export async function testKeyboard(context, url) {
  await check("the keyboard alone can generate data, compress it, inspect a page and corrupt bytes", async () => {
    const page = await open(context, url);
    const focus = async (id, key = "Tab") => {
      for (let step = 0; step < 80; step += 1) {
        if ((await page.evaluate(() => document.activeElement?.id)) === id) return;
        await page.keyboard.press(key);
      }
      assert.fail(`${id} is not reached`);
    };
    await focus("tab-compress");
    await focus("options-summary");
    await page.keyboard.press("Enter");
    await focus("sample-size");
    for (let i = 0; i < 22 - 14; i += 1) await page.keyboard.press("ArrowLeft");
    await focus("generate", "Shift+Tab");
    await finding(page, "bench", () => page.keyboard.press("Enter"));
    await page.keyboard.press("Home");
    await page.evaluate(() => document.activeElement.blur());
    await focus("tab-compress");
    await finding(page, "map", () => page.keyboard.press("ArrowRight"));
    await focus("map");
    assert.equal((await finding(page, "page", () => page.keyboard.press("ArrowRight"))).page, 1);
    await page.evaluate(() => document.getElementById("tab-inspect").focus());
    await page.keyboard.press("ArrowRight");
    await focus("corrupt-start");
    await finding(page, "corrupt", () => page.keyboard.press("Space"));
    await page.close();
  });
}

export async function testPhone(browser, url) {
  await check("a phone needs no horizontal scrolling, and all controls are large enough", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
    const page = await open(context, url);
    await measureOnly(page, "one", "lz4-wasm");
    writeSample("phone.bin", 100_000);
    await finding(page, "bench", () => choose(page, "phone.bin"));
    for (const tab of ["compress", "inspect", "verify", "gpu", "learn"]) {
      await openTab(page, tab);
      await mountRooms(page);
      await page.waitForTimeout(300);
      const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(content <= screen, `${tab}: ${content} px of content on ${screen} px`);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll("button, select")]
          .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 24)
          .map(({ id, textContent }) => id || textContent),
      );
      assert.deepEqual(small, [], "too small for a finger");
    }
    await context.close();
  });
}

export async function testThrottled(context, url) {
  await check("a benchmark works on a machine with a quarter of the speed", async () => {
    const page = await open(context, url);
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await measureOnly(page, "one");
    writeSample("slow.bin", 500_000);
    const { engines } = await finding(page, "bench", () => choose(page, "slow.bin"));
    assert.ok(engines.one.verified);
    await page.close();
  });
}

/** Tests the page without `navigator.gpu` in workers, where the package reads it. */
export async function testWithoutWebGpu(browser, url) {
  await check("without navigator.gpu the page shows the reason and uses the CPU", async () => {
    const context = await browser.newContext();
    // The property is deleted at the start of the worker's script, which the test changes as it is served.
    await context.route(/\/assets\/worker-[^/]*\.js$/, async (route) => {
      const response = await route.fetch();
      const body = `delete WorkerNavigator.prototype.gpu;\n${await response.text()}`;
      await route.fulfill({ response, body });
    });
    const page = await open(context, url);
    const backend = await page.evaluate(() => window.__backend);
    assert.equal(backend.engine, "cpu");
    assert.match(backend.rejected[0].reason, /navigator\.gpu/);
    await measureOnly(page, "gpu", "one");
    writeSample("without.bin", 50_000);
    const { engines } = await finding(page, "bench", () => choose(page, "without.bin"));
    assert.match(engines.gpu.failure.message, /navigator\.gpu/);
    assert.ok(engines.one.verified);
    // A worker may still be loading its module.
    await context.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
  });
}

/** Tests an insecure origin, without WebGPU, SHA-256, private files, clipboard and service worker. */
export async function testWithoutHttps(url) {
  await check("without https the page compresses and verifies on the CPU", async () => {
    const browser = await launch("none", ["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
    const page = await open(browser, url.replace("localhost", "plain.test"));
    assert.match((await page.evaluate(() => window.__backend)).rejected[0].reason, /secure context/);
    await measureOnly(page, "one");
    writeSample("plain.bin", 40_000_000);
    const file = await finding(page, "file", () => choose(page, "plain.bin"));
    assert.ok(file.verified && file.digest.kind === "xxh32-of-pieces", JSON.stringify(file));
    await openTab(page, "verify");
    await page.click("#copy-markdown");
    await page.waitForFunction(() => document.getElementById("copy-markdown").textContent === "Not allowed");
    await browser.close();
  });
}

export async function testOffline(browser, url) {
  await check("without a network the page opens and measures", async () => {
    const context = await browser.newContext();
    const page = await open(context, url);
    await page.evaluate(() => navigator.serviceWorker.ready.then(({ active }) => active.state));
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === "activated");
    await context.setOffline(true);
    await page.reload();
    await page.waitForFunction(() => window.__backend !== null);
    await measureOnly(page, "one", "lz4-wasm", "foxglove", "fflate", "zstd", "gzip");
    writeSample("offline.bin", 50_000);
    const { engines } = await finding(page, "bench", () => choose(page, "offline.bin"));
    assert.ok(Object.values(engines).every(({ verified }) => verified), JSON.stringify(engines));
    await openTab(page, "inspect");
    await page.selectOption("#sweep-most", "20");
    await finding(page, "sweep", () => page.click("#sweep-start"));
    await page.waitForSelector("#sweep-chart canvas");
    await context.close();
  });
}
