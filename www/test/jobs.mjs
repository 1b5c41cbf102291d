// Tests of jobs: their options, their order, their cards, and inputs that are not what they seem.
import { readFileSync, writeFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { assertRestores, at, check, choose, download, drop, finding, findings, lz4, measureOnly, newestCard, open, openTab, writeSample } from "./harness.mjs";

export async function testJobs(context, url) {
  const page = await open(context, url);
  await testOptionsOfJobs(page);
  await testOrder(page);
  await testChecksums(page);
  await testMisnamed(page);
  await testDropped(page);
  await page.close();
  await testLeaving(context, url);
}

async function testOptionsOfJobs(page) {
  await check("options changed during a race do not apply to it, and mark its figures as old", async () => {
    await measureOnly(page, "one", "fflate");
    await page.selectOption("#runs", "3");
    writeSample("options-race.bin", 2_000_000);
    const bench = await finding(page, "bench", async () => {
      await choose(page, "options-race.bin");
      await page.waitForFunction(() => document.querySelector('[data-state="running"]') !== null);
      await page.selectOption("#block-size", "4096");
      await page.selectOption("#level", "high");
    });
    assert.deepEqual([bench.blockSize, bench.level, bench.rounds], [65536, "auto", 3]);
    assert.match(await page.locator("#race-of").innerText(), /level automatic, blocks of 64 KiB; 3 rounds/);
    assert.ok(await page.locator("#race-old").isVisible());
    await page.selectOption("#block-size", "65536");
    await page.selectOption("#level", "auto");
    assert.ok(!(await page.locator("#race-old").isVisible()));
  });
}

async function testOrder(page) {
  await check("an empty file is compressed and has an empty map", async () => {
    await measureOnly(page);
    writeFileSync(at("empty.bin"), "");
    await finding(page, "file", () => choose(page, "empty.bin"));
    const map = await finding(page, ["map", "failure"], () => openTab(page, "inspect"));
    assert.deepEqual([map.kind, map.nPages], ["map", 0], JSON.stringify(map));
    assert.ok((await page.locator("#map-note").innerText()).includes("empty"));
    await page.click("#tab-compress");
  });

  await check("a second file during the first gets a card of its own, and both can be downloaded", async () => {
    const [one, two] = [writeSample("one.bin", 3_000_000), writeSample("two.bin", 300_000)];
    await findings(page, "file", async () => {
      await choose(page, "one.bin");
      await choose(page, "two.bin");
    }, 2);
    assert.ok((await newestCard(page).innerText()).includes("two.bin"));
    assertRestores(await download(page, "one.bin.lz4"), one);
    assertRestores(await download(page, "two.bin.lz4"), two);
  });

  await check("a race gives way to the map", async () => {
    await measureOnly(page, "one", "fflate");
    await page.selectOption("#runs", "15");
    await page.evaluate(() => window.__results.splice(0));
    await choose(page, "one.bin");
    await page.waitForFunction(() => document.querySelector('[data-state="running"]') !== null);
    await openTab(page, "inspect");
    await page.waitForFunction(() => window.__results.some(({ kind }) => kind === "map"));
    assert.ok(await page.evaluate(() => !window.__results.some(({ kind }) => kind === "bench")), "the map waited for the race");
    await page.waitForFunction(() => window.__results.some(({ kind }) => kind === "bench"), null, { timeout: 120_000 });
    await page.click("#tab-compress");
  });

  await check("after a dropped .lz4 the map shows its content", async () => {
    await measureOnly(page);
    lz4("-f", "-q", at("two.bin"), at("content.bin.lz4"));
    await finding(page, "unpacked", () => drop(page, "content.bin.lz4"));
    const map = await finding(page, "map", () => openTab(page, "inspect"));
    assert.deepEqual([map.name, map.nPages], ["content.bin", Math.ceil(300_000 / 4096)]);
    await page.click("#tab-compress");
  });
}

async function testChecksums(page) {
  await check("the card says which checksums a file has", async () => {
    const kinds = { none: ["--no-frame-crc"], content: [], blocks: ["-BX", "-B4", "--no-frame-crc"], legacy: ["-l"] };
    const texts = {
      none: /has no checksum of its content/,
      content: /Checked: 1 header checksum, 1 content checksum\./,
      blocks: /Checked: 1 header checksum, 5 block checksums\./,
      legacy: /has no checksum of its content/,
    };
    for (const [kind, flags] of Object.entries(kinds)) {
      lz4("-f", "-q", ...flags, at("two.bin"), at(`sums-${kind}.bin.lz4`));
      await finding(page, "unpacked", () => choose(page, `sums-${kind}.bin.lz4`));
      assert.match(await newestCard(page).innerText(), texts[kind], kind);
    }
  });
}

async function testMisnamed(page) {
  await check("an empty or damaged .lz4 file is an error, and is compressed only on request", async () => {
    writeFileSync(at("empty.lz4"), "");
    writeFileSync(at("damaged.lz4"), readFileSync(at("content.bin.lz4")).subarray(3));
    for (const name of ["empty.lz4", "damaged.lz4"]) {
      const found = await finding(page, ["file", "failure"], () => choose(page, name));
      assert.equal(found.code, "NOT_LZ4", JSON.stringify(found));
      assert.equal(await page.locator(`a[download="${name}.lz4"]`).count(), 0);
    }
    await finding(page, "file", () => newestCard(page).getByText("Compress it anyway").click());
    assertRestores(await download(page, "damaged.lz4.lz4"), readFileSync(at("damaged.lz4")));
  });

  await check("a file of lz4 -D asks for its dictionary, and is decompressed with it", async () => {
    const bytes = writeSample("with-dictionary.bin", 20_000);
    writeFileSync(at("dictionary"), bytes.subarray(0, 12_000));
    lz4("-f", "-q", "-D", at("dictionary"), at("with-dictionary.bin"), at("with-dictionary.bin.lz4"));
    const failure = await finding(page, ["failure", "unpacked"], () => choose(page, "with-dictionary.bin.lz4"));
    assert.equal(failure.code, "DICTIONARY_NEEDED", JSON.stringify(failure));
    const input = newestCard(page).locator("input[type=file]");
    const found = await finding(page, ["failure", "unpacked"], () => input.setInputFiles(at("dictionary")));
    assert.equal(found.kind, "unpacked", JSON.stringify(found));
    assert.ok(readFileSync(await download(page, "with-dictionary.bin")).equals(bytes));
  });
}

/** Drops entries of the file system that the page reads with a delay of `delay` ms per call. */
function dropFolder(page, nFiles, delay) {
  return page.evaluate(
    ([n, wait]) => {
      const later = (act) => setTimeout(act, wait);
      const file = (i) => ({
        isFile: true,
        isDirectory: false,
        fullPath: `/folder/${String(i).padStart(5, "0")}.txt`,
        file: (take) => later(() => take(new File([`file ${i}`], `${i}.txt`))),
      });
      const files = Array.from({ length: n }, (_, i) => file(i));
      const createReader = () => ({ readEntries: (take) => later(() => take(files.splice(0, 100))) });
      const folder = { isFile: false, isDirectory: true, name: "folder", fullPath: "/folder", createReader };
      const event = new DragEvent("drop", { bubbles: true, cancelable: true });
      const dataTransfer = { items: [{ webkitGetAsEntry: () => folder }], files: [], getData: () => "" };
      Object.defineProperty(event, "dataTransfer", { value: dataTransfer });
      document.getElementById("drop").dispatchEvent(event);
    },
    [nFiles, delay],
  );
}

async function testDropped(page) {
  await check("a folder of 5,000 files shows progress while it is read", async () => {
    const counts = new Set();
    const file = await finding(page, "file", async () => {
      await dropFolder(page, 5000, 10);
      await page.waitForFunction(() => !document.getElementById("jobs").hidden, null, { timeout: 500 });
      for (const end = performance.now() + 5000; performance.now() < end && counts.size < 2; ) {
        const text = await page.locator("#job-text").textContent();
        if (/\d+ files/.test(text)) counts.add(text);
      }
    });
    assert.equal(file.name, "folder.tar");
    assert.ok(counts.size >= 2, [...counts].join());
  });

  await check("an empty folder is an error, and dropped text is compressed", async () => {
    await dropFolder(page, 0, 1);
    await page.waitForFunction(() => document.querySelector("#cards article")?.innerText.includes("NO_FILES"));
    const file = await finding(page, "file", () =>
      page.evaluate(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.setData("text/plain", "text from another window");
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      }),
    );
    assert.deepEqual([file.name, file.inputBytes], ["dropped.txt", 24]);
  });
}

async function testLeaving(context, url) {
  await check("Back returns to the tab before, and leaving during a job asks first", async () => {
    const page = await open(context, url);
    await measureOnly(page, "fflate");
    await page.selectOption("#runs", "15");
    await openTab(page, "inspect");
    await choose(page, "one.bin");
    await page.waitForFunction(() => !document.getElementById("jobs").hidden);
    await page.goBack();
    assert.equal(await page.locator("#tab-compress").getAttribute("aria-selected"), "true");
    assert.ok(await page.locator("#jobs").isVisible(), "the job was lost");
    const asked = new Promise((resolve) => page.once("dialog", (dialog) => (resolve(dialog.type()), void dialog.dismiss())));
    await page.close({ runBeforeUnload: true });
    assert.equal(await asked, "beforeunload");
    await page.close();
  });
}
