// Tests of the tab "Compress": all inputs and options, downloads, races, cancellation.
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import { root } from "../../scripts/process.mjs";
import { assertRestores, at, check, choose, download, drop, finding, findings, lz4, measureOnly, newestCard, sampleBytes, writeSample } from "./harness.mjs";

/** Lengths around the limits of the format: last literals, last match, pages and blocks. */
const edgeLengths = [0, 1, 12, 13, 4095, 4096, 4097, 65535, 65536, 65537];

/** Tests files on one engine. */
export async function testFiles(label, page, engine) {
  await measureOnly(page);

  await check(`${label}: the badge names the engine, and the tab "Verify" the reason`, async () => {
    const backend = await page.evaluate(() => window.__backend);
    assert.equal(backend.engine, engine, JSON.stringify(backend));
    const badge = await page.locator("#badge").innerText();
    const names = { "no GPU": "CPU", "software GPU": "Software GPU", "hardware GPU": "GPU" };
    assert.equal(badge.split("\n")[0].trim(), names[label], badge);
    const text = await page.locator("#engine-text").textContent();
    assert.ok(backend.reason.length > 0 && text.includes(backend.reason), text);
  });

  await check(`${label}: lz4 restores the compressed file of a dropped file`, async () => {
    const bytes = writeSample("dropped.bin", 300_001);
    const file = await finding(page, "file", () => drop(page, "dropped.bin"));
    assert.ok(file.verified && file.engine === engine, JSON.stringify(file));
    const saved = await download(page, "dropped.bin.lz4");
    assert.equal(readFileSync(saved).length, file.outputBytes);
    assertRestores(saved, bytes);
  });

  await check(`${label}: files of ${edgeLengths.join(", ")} bytes are restored`, async () => {
    for (const length of edgeLengths) {
      const name = `edge-${length}.bin`;
      const bytes = writeSample(name, length);
      const file = await finding(page, ["file", "failure"], () => choose(page, name));
      assert.ok(file.verified, JSON.stringify(file));
      assertRestores(await download(page, `${name}.lz4`), bytes);
    }
  });

  await check(`${label}: files written by lz4 are decompressed`, async () => {
    const bytes = writeSample("original.bin", 300_007);
    const kinds = { plain: [], linked: ["-B4", "-BD"], sums: ["-B5", "-BX", "--content-size"], legacy: ["-l"] };
    for (const [kind, flags] of Object.entries(kinds)) {
      lz4("-f", "-q", ...flags, at("original.bin"), at(`${kind}.bin.lz4`));
      const found = await findings(page, ["unpacked", "inspected", "failure"], () => drop(page, `${kind}.bin.lz4`), 2);
      assert.deepEqual(found.map((one) => one.kind).sort(), ["inspected", "unpacked"], JSON.stringify(found));
      assert.ok(readFileSync(await download(page, `${kind}.bin`)).equals(bytes), `${kind} differs`);
    }
  });

  await check(`${label}: a damaged file is an error with a code, and the next file works`, async () => {
    lz4("-f", "-q", at("original.bin"), at("cut.lz4"));
    writeFileSync(at("cut.lz4"), readFileSync(at("cut.lz4")).subarray(0, 5000));
    assert.equal((await finding(page, "failure", () => choose(page, "cut.lz4"))).code, "TRUNCATED_FRAME");
    assert.ok((await newestCard(page).locator(".failure").innerText()).includes("TRUNCATED_FRAME"));
    assert.ok((await finding(page, "file", () => choose(page, "edge-4097.bin"))).verified);
  });
}

/** Tests inputs and options, which do not depend on the engine. */
export async function testInputs(page) {
  await measureOnly(page);
  await testGivenInputs(page);
  await testSamples(page);
  await testOptions(page);
}

/** Tests dropped and chosen files, and pasted text. */
async function testGivenInputs(page) {
  await check("several dropped files become one archive", async () => {
    const file = await finding(page, "file", () => drop(page, "edge-4097.bin", "edge-13.bin"));
    assert.equal(file.outputName, "files.tar.lz4");
    const saved = await download(page, "files.tar.lz4");
    writeFileSync(at("files.tar"), lz4("-dc", saved));
    assert.equal(spawnSync("tar", ["-tf", at("files.tar")]).stdout.toString(), "edge-4097.bin\nedge-13.bin\n");
    assert.ok((await newestCard(page).locator("pre").textContent()).includes("tar -tvf"));
  });

  await check("a chosen folder becomes an archive with paths", async () => {
    mkdirSync(at("folder/inner"), { recursive: true });
    writeFileSync(at("folder/one.txt"), "one");
    writeFileSync(at("folder/inner/two.txt"), "two");
    const chooser = page.waitForEvent("filechooser");
    const file = await finding(page, "file", async () => {
      await page.click("#choose-folder");
      await (await chooser).setFiles(at("folder"));
    });
    assert.equal(file.outputName, "folder.tar.lz4");
    writeFileSync(at("folder.tar"), lz4("-dc", await download(page, "folder.tar.lz4")));
    const names = spawnSync("tar", ["-tf", at("folder.tar")]).stdout.toString().trim().split("\n").sort();
    assert.deepEqual(names, ["folder/inner/two.txt", "folder/one.txt"]);
  });

  await check("text can be pasted with the keyboard and in the dialog", async () => {
    const pasted = await finding(page, "file", () =>
      page.evaluate(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "pasted with the keyboard");
        document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
      }),
    );
    assert.equal(pasted.inputBytes, 24);
    await page.click("#paste");
    await page.keyboard.press("Escape");
    await page.click("#paste");
    await page.click("#paste-cancel");
    await page.click("#paste");
    await page.fill("#paste-text", "typed into the dialog, naïvely");
    await finding(page, "file", () => page.click("#paste-use"));
    assert.equal(lz4("-dc", await download(page, "pasted.txt.lz4")).toString(), "typed into the dialog, naïvely");
  });
}

async function testSamples(page) {
  for (const sample of ["memory", "json", "text", "source", "random", "zeros"]) {
    await check(`generated data is compressed: ${sample}`, async () => {
      await page.selectOption("#sample", sample);
      await page.fill("#sample-size", "20");
      const file = await finding(page, "file", () => page.click("#generate"));
      assert.ok(file.verified && file.inputBytes === 1 << 20, JSON.stringify(file));
      const ratio = file.inputBytes / file.outputBytes;
      assert.ok(sample === "random" ? ratio > 0.99 && ratio < 1 : ratio > 1.5, `ratio ${ratio}`);
      const original = await download(page, file.name);
      assertRestores(await download(page, file.outputName), readFileSync(original));
    });
  }
}

async function testOptions(page) {
  await check("the selected block size, level and index are applied", async () => {
    await page.selectOption("#block-size", "4096");
    await page.selectOption("#level", "high");
    await page.check("#index");
    writeSample("options.bin", 100_000);
    await finding(page, "file", () => choose(page, "options.bin"));
    const file = await download(page, "options.bin.lz4");
    const { compressSync } = await thePackage();
    const own = compressSync(new Uint8Array(sampleBytes(100_000)), { blockSize: 4096, level: "high", index: true });
    assert.ok(readFileSync(file).equals(Buffer.from(own)), "the file differs from the package's own output");
    await page.selectOption("#block-size", "65536");
    await page.selectOption("#level", "auto");
    await page.uncheck("#index");
  });
}

/** Imports the package in Node and prepares it for synchronous calls. */
async function thePackage() {
  const pagepress = await import(pathToFileURL(path.join(root, "dist/index.js")).href);
  await pagepress.init();
  return pagepress;
}

/** Tests races, whose output sizes must equal those of the packages in Node. */
export async function testBench(page) {
  await testBenchResults(page);
  await testBenchCancellation(page);
}

async function testBenchResults(page) {
  await check("a race has the output sizes of the packages", async () => {
    await measureOnly(page, "gpu", "cpu", "one", "lz4-wasm", "foxglove", "fflate", "zstd", "gzip");
    await page.selectOption("#runs", "3");
    const bytes = writeSample("bench.bin", 1_000_003);
    const { engines, ...bench } = await finding(page, "bench", () => choose(page, "bench.bin"));
    assert.equal(bench.bytes, bytes.length);
    const { compressSync } = await thePackage();
    const fflate = await import("fflate");
    const zstd = (await import("@bokuweb/zstd-wasm")).default;
    await zstd.init();
    const own = compressSync(new Uint8Array(bytes)).length;
    const sizes = { cpu: own, one: own, fflate: fflate.gzipSync(bytes, { level: 1 }).length, zstd: zstd.compress(bytes, 1).length };
    for (const [engine, size] of Object.entries(sizes)) assert.equal(engines[engine].outputBytes, size, engine);
    for (const engine of ["cpu", "one", "lz4-wasm", "foxglove", "fflate", "zstd", "gzip"]) {
      const { verified, runs, warm, compress, decompress, inputBytes } = engines[engine];
      assert.ok(verified && runs.length === 3 && inputBytes === bytes.length, engine);
      assert.ok(warm.startMs >= 0 && warm.compressMs >= 0 && decompress.median > 0 && decompress.least <= decompress.median, engine);
      assert.equal(compress === null, engine === "foxglove", engine);
    }
    assert.match(engines.gpu.failure.code, /BACKEND_UNAVAILABLE/);
  });

  await check("each engine has a row with its speed, or the reason why it is not available", async () => {
    const rows = await page.locator("#rows tr").allInnerTexts();
    assert.equal(rows.length, 8);
    assert.ok(rows[0].includes("Not available: this browser offers no WebGPU adapter"), rows[0]);
    for (const row of rows.slice(1)) assert.ok(/MB\/s|GB\/s/.test(row) && row.includes("best") && row.includes("verified"), row);
  });

  await check("the headline compares Pagepress with the fastest other LZ4 package", async () => {
    const text = await page.locator("#headline").innerText();
    assert.match(text, /^[\d.]+ ×\s+the speed of lz4-wasm to compress/, text);
  });

  await check("“Race again” repeats the race", async () => {
    await measureOnly(page, "one");
    const { engines } = await finding(page, "bench", () => page.click("#again"));
    assert.deepEqual(Object.keys(engines), ["one"]);
  });
}

async function testBenchCancellation(page) {
  await check("a race with a package without support for cancellation can be cancelled", async () => {
    await measureOnly(page, "fflate");
    await page.selectOption("#runs", "15");
    await page.selectOption("#sample", "text");
    await page.fill("#sample-size", "26");
    await finding(page, "cancelled", async () => {
      await page.click("#generate");
      await page.waitForFunction(() => document.querySelector('[data-engine="fflate"]').dataset.state === "running");
      await page.click("#job-cancel");
    });
    assert.equal(await page.locator('[data-engine="fflate"]').getAttribute("data-state"), "cancelled");
    const link = page.locator('#cards a[download="text-64MiB.txt.lz4"]');
    assert.equal(await link.count(), 1, "the finished file was removed");
  });

  await check("Escape cancels the generation of data", async () => {
    await page.fill("#sample-size", "28");
    await finding(page, "cancelled", async () => {
      await page.click("#generate");
      await page.waitForSelector("#jobs:not([hidden])");
      await page.keyboard.press("Escape");
    });
    await measureOnly(page);
    assert.ok((await finding(page, "file", () => choose(page, "edge-4097.bin"))).verified);
  });
}
