// Builds the page, serves it and uses it in Chromium as a person would: with no GPU, and on a software GPU.
//
// What the page gives back goes through the real `lz4` command. Needs the package in `dist`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { strict as assert } from "node:assert";
import { Remedy, exitWith, root, run } from "../scripts/process.mjs";
import { serve } from "../scripts/serve.mjs";
import { launch } from "../tests/browser/harness/chromium.mjs";

/** Lengths around the rules of the format: last literals, match limits, pages and blocks. */
const edgeLengths = [0, 1, 12, 13, 4095, 4096, 4097, 65535, 65536, 65537];

const folder = mkdtempSync(path.join(tmpdir(), "pagepress-page-"));
const at = (name) => path.join(folder, name);

/** `length` bytes, partly repetitive, with every block different so that swapped ones show. */
function sampleBytes(length) {
  const bytes = Buffer.alloc(length);
  let state = 12345;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const phase = (index >> 10) % 4;
    if (phase === 0) bytes[index] = "compress pages on any GPU, "[index % 27].charCodeAt(0);
    else if (phase === 1) bytes[index] = index % 251;
    else if (phase === 2) bytes[index] = (state >>> 24) % 7;
    else bytes[index] = state >>> 24;
  }
  return bytes;
}

function lz4(...args) {
  const { status, stdout, stderr, error } = spawnSync("lz4", args, { maxBuffer: 1 << 28 });
  if (error) throw new Remedy("The `lz4` command is needed: apt-get install lz4");
  assert.equal(status, 0, `lz4 ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Asserts that the real `lz4` accepts a file and restores these bytes from it. */
function assertRestores(file, bytes) {
  lz4("-t", file);
  assert.ok(lz4("-d", "-c", file).equals(bytes), `lz4 -d ${file} differs`);
}

function writeSample(name, length) {
  const bytes = sampleBytes(length);
  writeFileSync(at(name), bytes);
  return bytes;
}

async function open(browser, url) {
  const page = await browser.newPage({ acceptDownloads: true });
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") page.complaints.push(`asks ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForFunction(() => window.__backend !== null, null, { timeout: 120_000 });
  return page;
}

/** The outcomes of what `act` starts, once there are `count` more of them. */
async function outcomesOf(page, count, act) {
  const before = await page.evaluate(() => window.__results.length);
  await act();
  await page.waitForFunction((many) => window.__results.length >= many, before + count, { timeout: 300_000 });
  return page.evaluate((from) => window.__results.slice(from), before);
}

/** Chooses files as with the file dialog. */
const choose = (page, ...names) => outcomesOf(page, names.length, () => page.setInputFiles("#file", names.map(at)));

/** Drops a file on the page as with the mouse. */
function drop(page, name) {
  const argument = { name, base64: readFileSync(at(name)).toString("base64") };
  return outcomesOf(page, 1, async () => {
    const data = await page.evaluateHandle(({ name, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    }, argument);
    await page.dispatchEvent("#drop", "dragover", { dataTransfer: data });
    await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
  });
}

/** Saves what the newest card of `outputName` offers, and returns its path. */
async function download(page, outputName) {
  const [event] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(`a[download="${outputName}"]`).first().click(),
  ]);
  assert.equal(event.suggestedFilename(), outputName);
  const file = at(`downloaded-${outputName}`);
  await event.saveAs(file);
  return file;
}

const results = { passed: 0, failed: 0 };

async function check(name, body) {
  try {
    await body();
    results.passed += 1;
    console.log(`ok    ${name}`);
  } catch (error) {
    results.failed += 1;
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.stack : error}`);
  }
}

/** Checks that hold on every engine. */
async function checkPage(label, page, engine) {
  await check(`${label}: the badge names the engine and says why`, async () => {
    const backend = await page.evaluate(() => window.__backend);
    assert.equal(backend.engine, engine, JSON.stringify(backend));
    const badge = await page.locator("#engine").innerText();
    assert.ok(badge.includes(engine === "cpu" ? "CPU" : "WebGPU in software"), badge);
    assert.ok(backend.reason.length > 0 && badge.includes(backend.reason), badge);
  });

  await check(`${label}: a dropped file gives a .lz4 that lz4 restores`, async () => {
    const bytes = writeSample("dropped.bin", 700_001);
    const [outcome] = await drop(page, "dropped.bin");
    assert.equal(outcome.error, undefined, JSON.stringify(outcome.error));
    assert.ok(outcome.verified && outcome.ratio > 1.2, JSON.stringify(outcome));
    assert.equal(outcome.timing.engine, engine);
    assert.ok(outcome.compressMs > 0 && outcome.gzip.outputBytes > 0);
    const file = await download(page, "dropped.bin.lz4");
    assert.equal(readFileSync(file).length, outcome.outputBytes);
    assertRestores(file, bytes);
  });

  await check(`${label}: files of ${edgeLengths.join(", ")} bytes`, async () => {
    const names = edgeLengths.map((length) => `edge-${length}.bin`);
    const inputs = edgeLengths.map((length, index) => writeSample(names[index], length));
    const outcomes = await choose(page, ...names);
    for (const [index, outcome] of outcomes.entries()) {
      assert.ok(outcome.verified, JSON.stringify(outcome));
      assertRestores(await download(page, `${names[index]}.lz4`), inputs[index]);
    }
  });

  await check(`${label}: .lz4 files of the lz4 command give the originals`, async () => {
    const bytes = writeSample("original.bin", 300_007);
    const kinds = { plain: [], linked: ["-B4", "-BD"], sums: ["-B5", "-BX", "--content-size"], legacy: ["-l"] };
    for (const [kind, flags] of Object.entries(kinds)) {
      lz4("-f", "-q", ...flags, at("original.bin"), at(`${kind}.bin.lz4`));
      const [outcome] = await drop(page, `${kind}.bin.lz4`);
      assert.equal(outcome.error, undefined, `${kind}: ${JSON.stringify(outcome.error)}`);
      const file = await download(page, `${kind}.bin`);
      assert.ok(readFileSync(file).equals(bytes), `${kind} differs`);
    }
  });

  await check(`${label}: a sample, small blocks, level High`, async () => {
    await page.selectOption("#size", "1");
    await page.selectOption("#block-size", "4096");
    await page.selectOption("#level", "high");
    const [outcome] = await outcomesOf(page, 1, () => page.getByRole("button", { name: "Memory" }).click());
    assert.ok(outcome.verified && outcome.ratio > 1.2, JSON.stringify(outcome));
    lz4("-t", await download(page, outcome.outputName));
  });

  await check(`${label}: broken files give an error with a code, and the page goes on`, async () => {
    lz4("-f", "-q", at("original.bin"), at("cut.lz4"));
    writeFileSync(at("cut.lz4"), readFileSync(at("cut.lz4")).subarray(0, 5000));
    writeFileSync(at("words.lz4"), "these are words, not LZ4");
    const outcomes = await choose(page, "cut.lz4", "words.lz4");
    const codes = outcomes.map((outcome) => outcome.error?.code);
    assert.deepEqual(codes, ["TRUNCATED_FRAME", "NOT_LZ4"], JSON.stringify(outcomes));
    assert.ok((await page.locator(".failure").first().innerText()).includes("NOT_LZ4"));
    const [outcome] = await choose(page, "edge-4097.bin");
    assert.ok(outcome.verified);
  });

  await check(`${label}: no complaint of the browser, nothing asked of another host`, async () => {
    assert.deepEqual(page.complaints, []);
  });
}

async function withoutGpu(url) {
  const browser = await launch("none");
  try {
    const page = await open(browser, url);
    await checkPage("no GPU", page, "cpu");

    await check("no GPU: forcing WebGPU says that it is not available", async () => {
      const forced = await open(browser, `${url}?backend=webgpu`);
      assert.equal((await forced.evaluate(() => window.__backend)).code, "BACKEND_UNAVAILABLE");
      assert.ok((await forced.locator("#badge").innerText()).includes("BACKEND_UNAVAILABLE"));
    });

    await check("the file dialog and the samples are reached by keyboard", async () => {
      const fresh = await open(browser, url);
      const reached = [];
      for (let step = 0; step < 8; step += 1) {
        await fresh.keyboard.press("Tab");
        reached.push(await fresh.evaluate(() => document.activeElement?.id || document.activeElement?.textContent));
      }
      assert.ok(reached.includes("file") && reached.includes("Text"), reached.join(", "));
    });

    await check("a phone shows all without scrolling sideways", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(content <= screen, `${content} px of content on ${screen} px`);
    });
  } finally {
    await browser.close();
  }
}

async function onSoftwareGpu(url) {
  const browser = await launch("software");
  try {
    const page = await open(browser, `${url}?allow-software&backend=webgpu`);
    await checkPage("software GPU", page, "webgpu");

    await check("GPU and CPU give the same file", async () => {
      const files = {};
      for (const backend of ["webgpu", "cpu"]) {
        const one = await open(browser, `${url}?allow-software&backend=${backend}`);
        const [outcome] = await choose(one, "dropped.bin");
        assert.equal(outcome.timing.engine, backend);
        files[backend] = readFileSync(await download(one, "dropped.bin.lz4"));
        await one.close();
      }
      assert.ok(files.webgpu.equals(files.cpu));
    });

    await check("automatic choice takes no software GPU", async () => {
      const one = await open(browser, url);
      assert.equal((await one.evaluate(() => window.__backend)).engine, "cpu");
    });
  } finally {
    await browser.close();
  }
}

await exitWith(async () => {
  const { code } = await run("node", ["scripts/page.mjs"]);
  if (code !== 0) throw new Remedy("The page does not build; node scripts/build.mjs makes the package it needs");
  const server = await serve(path.join(root, "www", "dist"));
  try {
    await withoutGpu(server.url);
    await onSoftwareGpu(server.url);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${results.passed} passed, ${results.failed} failed`);
  if (results.failed > 0) process.exitCode = 1;
});
