import { bytesOf, checkSize, fail } from "../base/arguments.js";
import { bitsOfFloat16, unshared, viewAs } from "../base/views.js";
import type { Op } from "../wasm/tensor.js";
import type { AttentionOptions, DType, HalfType, MatmulOptions, Shape } from "./types.js";

const MAX_WORD = 2 ** 32 - 1;

/** Names of the types of elements. */
export const DTYPES: readonly DType[] = ["float32", "float16", "bfloat16"];

/** Returns a view of `value` of fixed length, or a copy if its memory is shared; throws `INVALID_ARGUMENT` unless it is a
 * `Float32Array` of any realm. */
export function checkedFloats(name: string, value: unknown): Float32Array {
  return unshared(viewAs(Float32Array, value) ?? fail(name, typeof value, "give a Float32Array"));
}

/** Returns the bits of elements of 16 bits, as `checkedFloats` does: of a `Float16Array` for `float16`, or given as a
 * `Uint16Array`. */
export function checkedBits(name: string, value: unknown, dtype: HalfType): Uint16Array {
  const bits = (dtype === "float16" ? bitsOfFloat16(value) : undefined) ?? viewAs(Uint16Array, value);
  const instead = dtype === "float16" ? "give a Float16Array, or the bits in a Uint16Array" : "give the bits in a Uint16Array";
  return unshared(bits ?? fail(name, typeof value, instead));
}

/** Converts lengths, positions or numbers of axes to the words that the module accepts; throws `INVALID_ARGUMENT` unless all
 * are whole numbers from 0 to 2^32 - 1. */
export function words(name: string, values: Shape): Uint32Array {
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) fail(name, typeof values, "give a list of whole numbers");
  const list = Array.from(values);
  for (const value of list) checkSize(name, value, MAX_WORD);
  return Uint32Array.from(list);
}

/** Returns packed bytes as words, the last one padded with zeros, and the number of bytes. */
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

/** Returns the operation of `attention`; throws `INVALID_ARGUMENT` unless the window is a whole number. */
export function attentionOp({ causal = false, scale, window }: AttentionOptions): Op {
  if (window !== undefined) checkWord("window", window);
  return ["attention", causal, scale, window];
}

/** Returns the operation of `matmul`. */
export function matmulOp({ bias, activation, residual }: MatmulOptions<unknown>): Op {
  return ["matmul", activation, bias !== undefined, residual !== undefined];
}

/** Returns a copy of a block of parameters as words; throws `INVALID_ARGUMENT` unless its length is a positive multiple of
 * 4. */
export function params(value: ArrayBufferView | ArrayBuffer): Uint32Array {
  const bytes = bytesOf("args", value);
  if (bytes.length === 0 || bytes.length % 4 !== 0) {
    fail("args", `parameters of ${bytes.length} bytes`, "give whole words of 4 bytes, at least one");
  }
  return new Uint32Array(bytes.slice().buffer);
}
