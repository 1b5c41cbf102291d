// Tests of a file of 1 GiB: progress, cancellation, bounded memory.
import { randomBytes } from "node:crypto";
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { strict as assert } from "node:assert";
import { watchMemory } from "../../tests/browser/harness/memory.mjs";
import { assertRestores, at, check, choose, download, finding, measureOnly, newestCard, open, sampleBytes, writeSample } from "./harness.mjs";

const GIB = 2 ** 30;
/** Maximum resident bytes of the largest process of the page. */
const MOST_MEMORY = 500e6;

/** Writes a sparse file of 1 GiB: 1 MiB of content in every 64 MiB. */
function writeLarge(name) {
  const file = openSync(at(name), "w");
  const content = sampleBytes(1 << 20);
  for (let start = 0; start < GIB; start += 64 << 20) writeSync(file, content, 0, content.length, start);
  ftruncateSync(file, GIB);
  closeSync(file);
}

export async function testLarge(context, url) {
  const page = await open(context, url);
  await measureOnly(page);
  writeLarge("large.bin");
  // -1 without a job, so that the position of the last one does not count.
  const fraction = () =>
    page.evaluate(() => (document.getElementById("jobs").hidden ? -1 : document.getElementById("job-progress").position));

  await check("the compression of 1 GiB can be cancelled", async () => {
    await finding(page, "cancelled", async () => {
      await choose(page, "large.bin");
      await page.waitForFunction(() => document.getElementById("job-progress").position > 0.02);
      await page.click("#job-cancel");
    });
    assert.ok((await newestCard(page).innerText()).includes("Cancelled"));
  });

  await check("1 GiB is compressed and verified, with progress and in bounded memory", async () => {
    const seen = [];
    const timer = setInterval(() => void fraction().then((one) => seen.push(one)).catch(() => undefined), 200);
    const { value: file, peak } = await watchMemory(() => finding(page, "file", () => choose(page, "large.bin")));
    clearInterval(timer);
    console.log(`      ${Math.round(peak / 1e6)} MB at most, ${Math.round(file.milliseconds)} ms to compress`);
    assert.ok(file.verified && file.inputBytes === GIB, JSON.stringify(file));
    assert.equal(file.digest.kind, "sha256-of-pieces");
    const between = seen.filter((one) => one > 0 && one < 1);
    assert.ok(between.length >= 3 && between.every((one, i) => i === 0 || one >= between[i - 1]), between.join(" "));
    assert.ok(peak < MOST_MEMORY, `${peak} bytes`);
  });

  const nOutputs = () =>
    page.evaluate(async () => {
      const outputs = await (await navigator.storage.getDirectory()).getDirectoryHandle("outputs", { create: true });
      return (await Array.fromAsync(outputs.keys())).length;
    });

  await check("large output is stored in a file, is complete, and is removed with its card", async () => {
    const before = await nOutputs();
    const bytes = randomBytes(40 << 20);
    writeFileSync(at("noise.bin"), bytes);
    const file = await finding(page, "file", () => choose(page, "noise.bin"));
    assert.ok(file.verified && file.outputBytes > bytes.length);
    assert.equal(await nOutputs(), before + 1);
    assertRestores(await download(page, "noise.bin.lz4"), bytes);
    writeSample("small.bin", 1000);
    await finding(page, "file", () => choose(page, "small.bin"));
    assert.equal(await nOutputs(), before + 1, "the download of the earlier card was removed");
    const remove = page.locator("#cards > article > .row button");
    while ((await remove.count()) > 0) await remove.first().click();
    await page.waitForFunction(async () => {
      const outputs = await (await navigator.storage.getDirectory()).getDirectoryHandle("outputs", { create: true });
      return (await Array.fromAsync(outputs.keys())).length === 0;
    });
  });
  await page.close();
}
