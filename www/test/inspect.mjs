// Tests of the tabs "Inspect", "Verify" and "How it works".
import { writeFileSync, readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { at, check, choose, download, finding, findings, lz4, measureOnly, sampleBytes, openTab } from "./harness.mjs";

/** Returns pages of text, random bytes and zeros, in turn. */
export function knownPages(nPages) {
  const bytes = Buffer.alloc(4096 * nPages);
  const noise = sampleBytes(4096 * nPages * 4);
  for (let page = 0; page < nPages; page += 1) {
    const start = page * 4096;
    if (page % 3 === 0) bytes.write("to compress is to remember, ".repeat(200), start, 4096, "latin1");
    // Copies only the random quarters of the sample.
    if (page % 3 === 1) for (let i = 0; i < 4; i += 1) noise.copy(bytes, start + 1024 * i, (page * 16 + 4 * i + 3) * 1024, (page * 16 + 4 * i + 4) * 1024);
  }
  return bytes;
}

export async function testInspect(label, page) {
  await check(`${label}: the map counts pages by kind, and shows the page under the pointer`, async () => {
    await measureOnly(page);
    writeFileSync(at("pages.bin"), knownPages(30));
    await finding(page, "file", () => choose(page, "pages.bin"));
    const [map] = await findings(page, ["map", "page"], () => openTab(page, "inspect"), 2);
    assert.deepEqual(map.kinds, { lz4: 10, stored: 10, fill: 10 }, JSON.stringify(map));
    const { width, height } = await page.locator("#map-cursor").boundingBox();
    const position = { x: 1.5 * width, y: 0.5 * height };
    const stored = await finding(page, "page", () => page.locator("#map").hover({ position }));
    assert.deepEqual([stored.page, stored.pageKind], [1, "stored"]);
    await page.focus("#map");
    const filled = await finding(page, "page", () => page.keyboard.press("ArrowRight"));
    assert.deepEqual([filled.page, filled.pageKind], [2, "fill"]);
    const packed = await finding(page, "page", () => page.fill("#page-number", "3"));
    assert.equal(packed.pageKind, "lz4");
    assert.ok(packed.nSequences > 0 && (await page.locator("#sequences tbody tr").count()) === packed.nSequences);
    assert.ok((await page.locator("#page-title").innerText()).startsWith("Page 3"));
  });

  await check(`${label}: the page size of the map can be changed`, async () => {
    const map = await finding(page, "map", () => page.selectOption("#page-size", "16384"));
    assert.equal(map.nPages, 8);
    await finding(page, "map", () => page.selectOption("#page-size", "4096"));
  });

  await check(`${label}: the sweep measures both engines and the choice of automatic mode`, async () => {
    await page.selectOption("#sweep-most", "20");
    const sweep = await finding(page, "sweep", () => page.click("#sweep-start"));
    const engines = new Set(sweep.points.map(({ engine }) => engine));
    assert.deepEqual([...engines].sort(), label === "no GPU" ? ["cpu", "one"] : ["cpu", "webgpu"]);
    assert.equal(sweep.withoutGpu === null, label !== "no GPU");
    assert.ok(sweep.points.every(({ compressMs, decompressMs, best }) => compressMs > 0 && decompressMs > 0 && best.compressMs <= compressMs));
    assert.equal(sweep.picks.length, 5);
    if (label !== "hardware GPU") assert.ok(sweep.picks.every(({ engine }) => engine === "cpu"), "automatic mode chose a software GPU");
    await page.selectOption("#sweep-way", "decompress");
    await page.waitForSelector("#sweep-chart canvas");
    assert.ok((await page.locator("#sweep-text").innerText()).includes("Automatic"));
  });
}

/** Tests the inspector with files of the `lz4` command and with a file of the package. */
export async function testInspector(page) {
  await check("the inspector shows the structure of frames written by lz4", async () => {
    await openTab(page, "inspect");
    lz4("-f", "-q", "-B4", "-BX", "--content-size", at("pages.bin"), at("inspect.lz4"));
    const { parts } = await finding(page, "inspected", () => page.setInputFiles("#inspect-file", at("inspect.lz4")));
    assert.equal(parts[0].descriptor.contentSize, readFileSync(at("pages.bin")).length);
    assert.ok(parts[0].descriptor.blockChecksums && parts[0].nBlocks === 2, JSON.stringify(parts));
    assert.ok((await page.locator("#inspected").innerText()).includes("Header checksum"));
  });

  await check("the inspector shows the seek index of the compressed file", async () => {
    await page.click("#tab-compress");
    await page.check("#index");
    await finding(page, "file", () => choose(page, "pages.bin"));
    await page.uncheck("#index");
    await openTab(page, "inspect");
    const { parts } = await finding(page, "inspected", () => page.click("#inspect-made"));
    assert.deepEqual(parts.map(({ kind }) => kind), ["frame", "skippable"]);
    const { nBlocks, frameBytes, contentBytes, checksumMatches } = parts[1].index;
    assert.deepEqual([nBlocks, frameBytes, contentBytes, checksumMatches], [parts[0].nBlocks, parts[0].bytes, 30 * 4096, true]);
  });

  await check("the inspector shows the error of a file that is not LZ4", async () => {
    writeFileSync(at("words.lz4"), "these are words, not LZ4");
    const failure = await finding(page, "failure", () => page.setInputFiles("#inspect-file", at("words.lz4")));
    assert.equal(failure.code, "NOT_LZ4");
    assert.ok((await page.locator("#inspected .failure").innerText()).includes("NOT_LZ4"));
  });
}

export async function testVerify(label, page) {
  await check(`${label}: a changed byte is a typed error, and affects one page only`, async () => {
    await openTab(page, "verify");
    await page.fill("#corrupt-offset", "300");
    const { code, offset, nTried, unnoticed, tally, pages } = await finding(page, "corrupt", () => page.click("#corrupt-start"));
    assert.equal(offset, 300);
    assert.match(code, /^[A-Z_]+$/);
    assert.equal(unnoticed.changed, 0);
    assert.equal(Object.values(tally).reduce((sum, n) => sum + n, 0), nTried);
    assert.ok(pages.othersIntact && pages.wrong.length === 1 && pages.wrong[0].page === pages.hit, JSON.stringify(pages));
    assert.ok((await page.locator("#corrupt-result").innerText()).includes(code));
  });

  await check(`${label}: capabilities are shown and copied`, async () => {
    await finding(page, "capabilities", () => page.click("#capabilities-more summary"));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click("#capabilities-copy");
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("engine: "));
  });

  await check(`${label}: the report is copied as Markdown and as JSON`, async () => {
    await page.click("#copy-markdown");
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("Pagepress "));
    const markdown = await page.evaluate(() => navigator.clipboard.readText());
    for (const part of ["- GPU faster than CPU: ", "- 100 bytes changed: ", "round trip verified, sha256 "]) assert.ok(markdown.includes(part), markdown);
    await page.click("#copy-json");
    const json = await page.waitForFunction(async () => {
      const text = await navigator.clipboard.readText();
      return text.startsWith("{") && text;
    });
    const report = JSON.parse(await json.jsonValue());
    const version = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url))).version;
    assert.equal(report.pagepress, version);
    assert.ok(report.browser.includes("Chrome") && report.findings.length > 3);
  });
}

/** Tests the recovery from a lost device. */
export async function testLoss(page, hasGpu) {
  await check(hasGpu ? "a lost device is replaced, and the bytes are right" : "without a GPU, a call on the CPU is cancelled instead", async () => {
    await openTab(page, "verify");
    const found = await finding(page, ["loss", "cancel", "failure"], () => page.click("#lose-start"));
    if (!hasGpu) {
      assert.ok(found.kind === "cancel" && found.afterEqual && found.error === "AbortError", JSON.stringify(found));
      return assert.ok((await page.locator("#lose-result").innerText()).includes("returned the right bytes"));
    }
    assert.ok(found.duringEqual && found.afterEqual, JSON.stringify(found));
    assert.deepEqual(found.counters, { lost: 1, replaced: 1 });
    assert.equal(found.lossMessages.length, 1);
  });
}

export async function testLearn(page) {
  await check("“How it works” is drawn from the current input", async () => {
    const drawn = await finding(page, "learn", () => openTab(page, "learn"));
    assert.ok(drawn.nSequences > 0);
    assert.ok((await page.locator("#learn-of").innerText()).includes("pages.bin"));
    const before = await page.locator("#sequence-number").innerText();
    await page.click("#sequence-after");
    assert.notEqual(await page.locator("#sequence-number").innerText(), before);
    await page.click("#sequence-before");
    assert.equal(await page.locator("#sequence-number").innerText(), before);
    await page.waitForFunction(() => document.getElementById("frame-parts").innerText.includes("Header"));
  });

  await check("the code samples are those of the README", async () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const codes = await page.locator("#panel-learn .copyable code").allTextContents();
    assert.equal(codes.length, 4);
    for (const code of [codes[1], codes[3]]) assert.ok(readme.includes(code), code);
    await page.locator("#panel-learn .copy").first().click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "npm install pagepress");
  });
}
