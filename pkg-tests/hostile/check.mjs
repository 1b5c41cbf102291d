// Helpers of the hostile tests: the built package, random numbers, and the check for typed errors.
import { strict as assert } from "node:assert";
import * as pagepress from "../../dist/index.js";
import { randomNumbers } from "../../tests/browser/suite/data.js";

export { pagepress, randomNumbers };

/** The codes of errors caused by the caller or the input. `INTERNAL` is not among them: it stands for a trap. */
const TYPED = new Set([
  "CHECKSUM_MISMATCH",
  "CONTENT_SIZE_MISMATCH",
  "CORRUPT_PAGE",
  "DICTIONARY_NEEDED",
  "INVALID_ARGUMENT",
  "INVALID_FRAME",
  "NOT_LZ4",
  "OUTPUT_LIMIT",
  "OUT_OF_MEMORY",
  "READ",
  "TRUNCATED_FRAME",
  "WRONG_DICTIONARY",
]);

/** Returns the value of `work`, or the code of its error, which must be typed or in `more`. */
export async function outcomeOf(work, more = []) {
  try {
    return { value: await work() };
  } catch (error) {
    assert.ok(error instanceof pagepress.PagepressError, `not a PagepressError: ${error?.stack ?? error}`);
    assert.ok(TYPED.has(error.code) || more.includes(error.code), `${error.code}: ${error.message}`);
    return { code: error.code };
  }
}

/** Returns words of a small vocabulary: compressible, with matches at many offsets. */
export function textOf(length, seed) {
  const next = randomNumbers(seed);
  const words = "page block frame token literal match offset table index of the to and in a is".split(" ");
  let text = "";
  while (text.length < length) text += `${words[next() % words.length]} `;
  return new TextEncoder().encode(text.slice(0, length));
}

/**
 * Returns the bytes in use after a garbage collection: of the heap with all buffers and WebAssembly memories, and of the
 * process, which includes unused memory. Needs `--expose-gc`.
 */
export async function memoryInUse() {
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: heapUsed + external, resident: rss };
}

/** Returns both in MB, before and after; throws if they grew by more than the memories of a few instances. */
export function checkMemory(before, after) {
  const mb = (bytes) => Math.round(bytes / 1e6);
  const summary = { usedMb: [mb(before.used), mb(after.used)], residentMb: [mb(before.resident), mb(after.resident)] };
  assert.ok(after.used < before.used + 24e6 && after.resident < before.resident + 128e6, JSON.stringify(summary));
  return summary;
}
