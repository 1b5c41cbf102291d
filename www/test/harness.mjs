// What all tests of the page need: the page in Chromium, its findings, files, and the `lz4` command.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { strict as assert } from "node:assert";
import { Remedy } from "../../scripts/process.mjs";
import { within } from "../../tests/browser/harness/limit.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "pagepress-page-"));

/** A path in the folder of this run. */
export const at = (name) => path.join(folder, name);

/** Removes what the tests wrote. */
export const removeFiles = () => rmSync(folder, { recursive: true, force: true });

/** `length` bytes, partly repetitive, with every block different so that swapped ones show. */
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

/** Writes a file of such bytes and gives them. */
export function writeSample(name, length) {
  const bytes = sampleBytes(length);
  writeFileSync(at(name), bytes);
  return bytes;
}

/** What the `lz4` command prints. */
export function lz4(...args) {
  const { status, stdout, stderr, error } = spawnSync("lz4", args, { maxBuffer: 1 << 28 });
  if (error) throw new Remedy("The `lz4` command is needed: apt-get install lz4");
  assert.equal(status, 0, `lz4 ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Asserts that the real `lz4` accepts a file and restores these bytes from it. */
export function assertRestores(file, bytes) {
  lz4("-t", file);
  assert.ok(lz4("-d", "-c", file).equals(bytes), `lz4 -d ${file} differs`);
}

/** The page, with what goes wrong in `page.complaints`. */
export async function open(context, url) {
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") page.complaints.push(`asks ${request.url()}`);
  });
  page.setDefaultTimeout(180_000);
  await page.goto(url);
  await page.waitForFunction(() => window.__backend !== null);
  return page;
}

/** The findings of `kind` that come while `act` is done, once there are `count` and nothing runs any more. */
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

/** The one finding that comes while `act` is done. */
export const finding = async (page, kind, act) => (await findings(page, kind, act))[0];

/** Has only these engines measured, once each. */
export async function measureOnly(page, ...engines) {
  await page.click("#tab-compress");
  await page.selectOption("#runs", "1");
  for (const box of await page.locator("#rows input").all()) {
    const engine = await box.evaluate((input) => input.closest("tr").dataset.engine);
    await box.setChecked(engines.includes(engine));
  }
}

/** Chooses files as with the file dialog. */
export const choose = (page, ...names) => page.setInputFiles("#file", names.map(at));

/** Drops files on the page as with the mouse. */
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

/** Saves what the card offers under this name, and returns its path. */
export async function download(page, outputName) {
  await page.click("#tab-compress");
  // Chromium drops downloads beyond ten a second.
  await page.waitForTimeout(150);
  const [event] = await Promise.all([page.waitForEvent("download"), page.locator(`a[download="${outputName}"]`).click()]);
  assert.equal(event.suggestedFilename(), outputName);
  const file = at(`downloaded-${outputName}`);
  await event.saveAs(file);
  return file;
}

const results = { passed: 0, failed: 0 };

/** Runs a test and counts it. It fails if it has not ended after the limit of a case. */
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

/** Prints the sum; the process ends with code 1 if anything failed. */
export function finish() {
  console.log(`${results.passed} passed, ${results.failed} failed`);
  if (results.failed > 0 || results.passed === 0) process.exitCode = 1;
}
