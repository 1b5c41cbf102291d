// Tests of the rooms that are loaded when they are first seen.
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import { root } from "../../scripts/process.mjs";
import { at, check, clipboard, finding, open, openTab, sampleBytes } from "./harness.mjs";

export async function testRooms(context, url) {
  await testMachines(context, url);
  await testParts(context, url);
  await testMachine(context, url);
  await testPlayground(context, url);
}

/** Replaces the program in the editor. */
async function write(page, text) {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

async function openPlayground(context, url) {
  const page = await open(context, url);
  await openTab(page, "learn");
  await page.locator("#room-playground").scrollIntoViewIfNeeded();
  await page.waitForSelector(".editor .cm-content");
  return page;
}

async function testPlayground(context, url) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await openPlayground(context, url);

  await check("the example runs in the playground, and an edited program on the visitor's file", async () => {
    const example = await finding(page, "program", () => page.click("#program-run"));
    assert.equal(example.error, null, JSON.stringify(example));
    for (const word of ["ratio", "compress: ", "decompress: ", "in the middle: ", "done in "]) assert.ok(example.output.includes(word), example.output);
    await page.click("#tab-compress");
    writeFileSync(at("mine.txt"), "the visitor's own bytes ".repeat(100));
    await finding(page, "file", () => page.setInputFiles("#file", at("mine.txt")));
    await openTab(page, "learn");
    await page.selectOption("#program-input", "file");
    await write(page, "show(input.length, new TextDecoder().decode(input.subarray(0, 11)));");
    const own = await finding(page, "program", () => page.click("#program-run"));
    assert.ok(own.output.startsWith("2400 the visitor"), own.output);
  });

  await check("errors are shown at their line, and a program that never ends can be cancelled", async () => {
    await write(page, 'show("one");\nconst nothing = null;\nnothing.property;');
    const { error } = await finding(page, "program", () => page.click("#program-run"));
    assert.deepEqual([error.code, error.position.line], ["TypeError", 3], JSON.stringify(error));
    assert.equal(await page.locator(".editor .cm-lintRange-error").count(), 1);
    await write(page, "await pagepress.decompress(new Uint8Array(9));");
    const package_ = await finding(page, "program", () => page.click("#program-run"));
    assert.equal(package_.error.code, "NOT_LZ4");
    await write(page, "for (;;) {}");
    await finding(page, "cancelled", async () => {
      await page.click("#program-run");
      await page.waitForSelector("#jobs:not([hidden])");
      await page.keyboard.press("Escape");
    });
    await write(page, 'show("again", typeof caches, typeof indexedDB);');
    assert.match((await finding(page, "program", () => page.click("#program-run"))).output, /^again undefined undefined/);
  });

  await check("a program travels in a link, is not run by itself, and needs no server", async () => {
    const program = 'show("from the link, naïvely");';
    await write(page, program);
    await page.click("#program-link");
    const link = await clipboard(page, "#learn?javascript=");
    const other = await openPlayground(context, link);
    await other.waitForFunction(() => !document.getElementById("program-notice").hidden);
    assert.equal(await other.locator(".editor .cm-line").first().innerText(), program);
    assert.ok(await other.evaluate(() => !window.__results.some(({ kind }) => kind === "program")));
    assert.match((await finding(other, "program", () => other.click("#program-run"))).output, /^from the link, naïvely/);
    await other.close();
    const broken = await openPlayground(context, link.replace(/javascript=.*/, "javascript=AAAA"));
    await broken.waitForFunction(() => document.getElementById("program-notice").innerText.includes("NOT_LZ4"));
    await broken.close();
  });

  await check("without a GPU a WGSL kernel is an error with the reason", async () => {
    await page.selectOption("#program-language", "wgsl");
    const { error } = await finding(page, "program", () => page.click("#program-run"));
    assert.equal(error.code, "BACKEND_UNAVAILABLE");
  });
  // Chromium's own editing gives inserted text a style; the page's policy blocks it, and the editor removes it.
  assert.deepEqual(page.faults.filter((fault) => !fault.startsWith("Applying inline style")), []);
  await page.close();
}

/** Tests kernels on a GPU. */
export async function testKernels(context, url) {
  const page = await openPlayground(context, url);
  await page.selectOption("#program-language", "wgsl");
  await check("a WGSL kernel runs on numbers and on the visitor's file", async () => {
    const { output, error } = await finding(page, "program", () => page.click("#program-run"));
    assert.equal(error, null, JSON.stringify(error));
    assert.ok(output.includes("as f32: 0 1.00 1.41 1.73 2.00"), output);
    await page.click("#tab-compress");
    writeFileSync(at("floats.bin"), Buffer.from(Float32Array.of(4, 9, 16).buffer));
    await finding(page, "file", () => page.setInputFiles("#file", at("floats.bin")));
    await openTab(page, "learn");
    await page.selectOption("#program-input", "file");
    assert.ok((await finding(page, "program", () => page.click("#program-run"))).output.includes("as f32: 2.00 3.00 4.00"));
  });

  await check("an error of a kernel is shown at its line", async () => {
    await write(page, "@group(0) @binding(0) var<storage, read> input: array<f32>;\n\n@compute @workgroup_size(64)\nfn main() { let x: f32 = nothing; }\n");
    const { error } = await finding(page, "program", () => page.click("#program-run"));
    assert.deepEqual([error.code, error.position?.line], ["KERNEL_COMPILE", 4], JSON.stringify(error));
  });
  await page.close();
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
