import { bytesOf, checkSize, fail } from "../base/arguments.js";
import { unshared, viewAs } from "../base/views.js";
import type { Shape } from "./types.js";

const MAX_WORD = 2 ** 32 - 1;

/** A view of `value` that keeps its length, or a copy of shared memory; throws `INVALID_ARGUMENT` unless it is a
 * `Float32Array`, of whatever realm. */
export function checkedFloats(name: string, value: unknown): Float32Array {
  return unshared(viewAs(Float32Array, value) ?? fail(name, typeof value, "give a Float32Array"));
}

/** Lengths, places or numbers of axes as the module takes them. */
export function words(name: string, values: Shape): Uint32Array {
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) fail(name, typeof values, "give a list of whole numbers");
  const list = Array.from(values);
  for (const value of list) checkSize(name, value, MAX_WORD);
  return Uint32Array.from(list);
}

export function checkWord(name: string, value: number): void {
  checkSize(name, value, MAX_WORD);
}

/** A block of parameters as words. */
export function params(value: ArrayBufferView | ArrayBuffer): Uint32Array {
  const bytes = bytesOf("args", value);
  if (bytes.length === 0 || bytes.length % 4 !== 0) {
    fail("args", `parameters of ${bytes.length} bytes`, "give whole words of 4 bytes, at least one");
  }
  return new Uint32Array(bytes.slice().buffer);
}
