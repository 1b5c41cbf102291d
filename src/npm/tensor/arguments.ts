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

/** Packed bytes as words, the last one filled up, and the number of bytes. */
export function packedWords(name: string, value: unknown): [words: Float32Array, length: number] {
  const bytes = bytesOf(name, value);
  const n = Math.ceil(bytes.length / 4);
  if (bytes.byteOffset % 4 === 0 && bytes.length === 4 * n) return [new Float32Array(bytes.buffer, bytes.byteOffset, n), bytes.length];
  const whole = new Uint8Array(4 * n);
  whole.set(bytes);
  return [new Float32Array(whole.buffer), bytes.length];
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
