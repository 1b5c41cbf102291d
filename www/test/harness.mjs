// Helpers of the page's tests: the page in Chromium, its results, files, and the `lz4` command.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { strict as assert } from "node:assert";
import { Remedy } from "../../scripts/process.mjs";
import { within } from "../../tests/browser/harness/limit.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "pagepress-page-"));

/** Returns a path in the temporary folder of this run. */
export const at = (name) => path.join(folder, name);

/** Removes the temporary folder. */
export const removeFiles = () => rmSync(folder, { recursive: true, force: true });

/** Returns `length` partly repetitive bytes. All blocks differ, so that swapped blocks are detected. */
export function sampleBytes(length) {
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

/** Writes a file of sample bytes and returns them. */
export function writeSample(name, length) {
  const bytes = sampleBytes(length);
  writeFileSync(at(name), bytes);
  return bytes;
}

/** Runs the `lz4` command and returns its standard output. */
export function lz4(...args) {
  const { status, stdout, stderr, error } = spawnSync("lz4", args, { maxBuffer: 1 << 28 });
  if (error) throw new Remedy("The `lz4` command is needed: apt-get install lz4");
  assert.equal(status, 0, `lz4 ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Asserts that `lz4` accepts a file and decompresses it to `bytes`. */
export function assertRestores(file, bytes) {
  lz4("-t", file);
  assert.ok(lz4("-d", "-c", file).equals(bytes), `lz4 -d ${file} differs`);
}

/**
 * Opens the page, without the race that starts by itself unless `race` is true. Errors, and requests to other hosts, are
 * collected in `page.faults`.
 */
export async function open(context, url, { race = false } = {}) {
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") page.faults.push(`requests ${request.url()}`);
  });
  page.setDefaultTimeout(180_000);
  const address = new URL(url);
  if (!race) address.searchParams.set("race", "off");
  await page.goto(address.href);
  await page.waitForFunction(() => window.__backend !== null);
  return page;
}

/** Runs `act` and returns the new results of `kind`, once there are `count` and no job runs. */
export async function findings(page, kind, act, count = 1) {
  const before = await page.evaluate(() => window.__results.length);
  await act();
  await page.waitForFunction(
    ([from, wanted, many]) =>
      window.__results.slice(from).filter((one) => wanted.includes(one.kind)).length >= many &&
      document.getElementById("jobs").hidden,
    [before, [kind].flat(), count],
    { timeout: 300_000 },
  );
  return page.evaluate(([from, wanted]) => window.__results.slice(from).filter((one) => wanted.includes(one.kind)), [
    before,
    [kind].flat(),
  ]);
}

/** Runs `act` and returns the new result of `kind`. */
export const finding = async (page, kind, act) => (await findings(page, kind, act))[0];

/** Opens a tab and waits until its parts are loaded. */
export async function openTab(page, name) {
  await page.click(`#tab-${name}`);
  await page.waitForFunction((panel) => document.getElementById(panel).ariaBusy !== "true", `panel-${name}`);
}

/** Scrolls to each room of the open tab, so that it is loaded. */
export async function mountRooms(page) {
  for (const room of await page.locator(".room").all()) {
    if (await room.isVisible()) await room.scrollIntoViewIfNeeded();
    await page.waitForTimeout(100);
  }
  await page.waitForFunction(() => [...document.querySelectorAll(".room")].every((room) => !room.checkVisibility() || room.ariaBusy !== "true"));
}

/** Unfolds the options. */
export const openOptions = (page) => page.evaluate(() => (document.getElementById("options").open = true));

/** Selects only these engines, with one round each. */
export async function measureOnly(page, ...engines) {
  await page.click("#tab-compress");
  await openOptions(page);
  await page.selectOption("#runs", "1");
  for (const box of await page.locator("#rows input").all()) {
    const engine = await box.evaluate((input) => input.closest("tr").dataset.engine);
    await box.setChecked(engines.includes(engine));
  }
}

/** The card of the newest job. */
export const newestCard = (page) => page.locator("#cards > article").first();

/** Selects files as the file dialog does. */
export const choose = (page, ...names) => page.setInputFiles("#file", names.map(at));

/** Drops files on the page as the mouse does. */
export async function drop(page, ...names) {
  const files = names.map((name) => ({ name, base64: readFileSync(at(name)).toString("base64") }));
  const data = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of all) {
      transfer.items.add(new File([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], name));
    }
    return transfer;
  }, files);
  await page.dispatchEvent("#drop", "dragover", { dataTransfer: data });
  await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
}

/** Downloads the file that the newest card offers under this name, and returns its path. */
export async function download(page, outputName) {
  await page.click("#tab-compress");
  // Chromium discards downloads beyond ten per second.
  await page.waitForTimeout(150);
  const [event] = await Promise.all([page.waitForEvent("download"), page.locator(`a[download="${outputName}"]`).first().click()]);
  assert.equal(event.suggestedFilename(), outputName);
  const file = at(`downloaded-${outputName}`);
  await event.saveAs(file);
  return file;
}

/** Returns the text on the clipboard, once it has `part`. */
export async function clipboard(page, part) {
  for (const end = performance.now() + 30_000; performance.now() < end; ) {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    if (text.includes(part)) return text;
    await page.waitForTimeout(50);
  }
  return assert.fail(`the clipboard never had ${part}`);
}

const results = { passed: 0, failed: 0 };

/** Runs a test and counts it. A test that exceeds the time limit of a case fails. */
export async function check(name, body) {
  const begin = performance.now();
  try {
    await within(body());
    results.passed += 1;
    console.log(`ok    ${name} (${Math.round(performance.now() - begin)} ms)`);
  } catch (error) {
    results.failed += 1;
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.stack : error}`);
  }
}

/** Prints the totals and sets exit code 1 if a test failed or none ran. */
export function finish() {
  console.log(`${results.passed} passed, ${results.failed} failed`);
  if (results.failed > 0 || results.passed === 0) process.exitCode = 1;
}
