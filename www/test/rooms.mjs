// Tests of the rooms that are loaded when they are first seen.
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import { root } from "../../scripts/process.mjs";
import { at, check, finding, open, openTab, sampleBytes } from "./harness.mjs";

export async function testRooms(context, url) {
  await testMachines(context, url);
  await testParts(context, url);
  await testMachine(context, url);
}

async function testMachine(context, url) {
  await check("a running machine is frozen, a second freeze stores less, and a reload thaws it", async () => {
    let page = await open(context, url);
    await page.locator("#room-freeze").scrollIntoViewIfNeeded();
    await page.waitForSelector("#machine-run");
    const generation = async () => Number((await page.locator("#machine-state").textContent()).replace(/\D/g, ""));
    const first = await finding(page, "frozen", () => page.click("#machine-freeze"));
    assert.ok(!first.isIncrement && first.storedPages > 0 && first.isKept, JSON.stringify(first));
    await page.click("#machine-run");
    await page.waitForFunction(() => Number(document.getElementById("machine-state").textContent.replace(/\D/g, "")) > 20);
    await page.click("#machine-run");
    const second = await finding(page, "frozen", () => page.click("#machine-freeze"));
    assert.ok(second.isIncrement && second.generation > 20 && second.fileBytes < second.memoryBytes / 20, JSON.stringify(second));
    const third = await finding(page, "frozen", () => page.click("#machine-freeze"));
    assert.ok(third.storedPages === 0 && third.fileBytes < first.fileBytes, JSON.stringify([first, third]));
    assert.equal(await page.locator("#machine-versions tr").count(), 3);
    const stopped = await generation();
    await page.close();

    page = await open(context, url);
    await page.locator("#room-freeze").scrollIntoViewIfNeeded();
    await page.waitForSelector("#machine-thaw:not([disabled])");
    const thawed = await finding(page, "thawed", () => page.click("#machine-thaw"));
    assert.ok(thawed.generation === third.generation && thawed.generation === stopped && thawed.cells > 0, JSON.stringify(thawed));
    assert.deepEqual(page.faults, []);
    await page.close();
  });
}

async function testMachines(context, url) {
  await check("this machine's bar is in the table of measured machines", async () => {
    const page = await open(context, url);
    await page.locator("#room-machines").scrollIntoViewIfNeeded();
    await page.waitForSelector("#machines-rows tr");
    const before = await page.locator("#machines-rows tr").count();
    assert.ok(before >= 5);
    await page.evaluate(() => scrollTo(0, 0));
    await finding(page, "bench", () => page.click("#again"));
    assert.equal(await page.locator("#machines-rows tr.mine").count(), 1);
    assert.equal(await page.locator("#machines-rows tr").count(), before + 1);
    await page.close();
  });
}

/** Returns an indexed LZ4 file of the package and its content. */
async function indexedFile() {
  const { compressSync, init } = await import(pathToFileURL(path.join(root, "dist/index.js")).href);
  await init();
  const content = sampleBytes(24 << 20);
  return { content, packed: compressSync(content, { index: true }) };
}

async function testParts(context, url) {
  const { content, packed } = await indexedFile();
  writeFileSync(at("indexed.lz4"), packed);
  const served = path.join(root, "www/dist/indexed-for-test.lz4");
  writeFileSync(served, packed);
  const page = await open(context, url);
  await openTab(page, "inspect");
  await page.locator("#room-parts").scrollIntoViewIfNeeded();

  const shows = async (position) => {
    const [line] = (await page.locator("#part-bytes").textContent()).split("\n");
    const [, place, codes] = /^([0-9a-f]+) {2}((?:[0-9a-f]{2} )+) /.exec(line);
    assert.equal(parseInt(place, 16), position);
    assert.equal(codes.trim(), [...content.subarray(position, position + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" "));
  };
  const goTo = (text) =>
    finding(page, "part", async () => {
      await page.fill("#part-goal", text);
      await page.press("#part-goal", "Enter");
    });

  await check("parts of an indexed file are shown after reading little of it", async () => {
    await finding(page, "part", () => page.setInputFiles("#part-file input", at("indexed.lz4")));
    await shows(0);
    const part = await goTo("50 %");
    await shows(12 << 20);
    assert.ok(part.read > 0 && part.read < packed.length / 20, JSON.stringify(part));
    await goTo("0x100000");
    await shows(1 << 20);
    await page.focus("#part-bytes");
    await finding(page, "part", () => page.keyboard.press("PageDown"));
    await shows((1 << 20) + 384);
    assert.match(await page.locator("#part-note").innerText(), /Read \d+ parts?, [\d.]+ (KiB|MiB) of [\d.]+ MiB/);
  });

  await check("a file without an index is shown after a scan, and a damaged index is an error", async () => {
    const end = packed.length - 28 - 8 * (content.length / 65536) - 8;
    writeFileSync(at("plain.lz4"), packed.subarray(0, end));
    await finding(page, "part", () => page.setInputFiles("#part-file input", at("plain.lz4")));
    await goTo("50 %");
    await shows(12 << 20);
    const damaged = packed.slice();
    damaged[end + 100] ^= 1;
    writeFileSync(at("damaged-index.lz4"), damaged);
    const failure = await finding(page, "failure", () => page.setInputFiles("#part-file input", at("damaged-index.lz4")));
    assert.equal(failure.code, "CHECKSUM_MISMATCH");
  });

  await check("parts of a file on the server are read by range requests, and other servers are refused", async () => {
    await page.fill("#part-url", "indexed-for-test.lz4");
    await finding(page, "part", () => page.click("#part-open"));
    const part = await goTo("75 %");
    await shows(18 << 20);
    assert.ok(part.read > 0 && part.read < packed.length / 20, JSON.stringify(part));
    await page.fill("#part-url", "https://example.com/x.lz4");
    const failure = await finding(page, "failure", () => page.click("#part-open"));
    assert.match(failure.message, /only from its own server/);
  });
  rmSync(served);
  assert.deepEqual(page.faults, []);
  await page.close();
}
