import { bytesOf, checkSize, fail } from "../arguments.js";
import type { Reduction, Shape, Step } from "./types.js";

const MAX_WORD = 2 ** 32 - 1;

/** How many numbers steps take that take some. */
const numbersOf: Readonly<Record<string, number>> = { leakyRelu: 1, elu: 1, scale: 1, offset: 1, clip: 2 };

/** Throws `INVALID_ARGUMENT` unless `value` is a `Float32Array`, of whatever realm. */
export function checkFloats(name: string, value: unknown): asserts value is Float32Array {
  const tag = ArrayBuffer.isView(value) ? (value as Float32Array)[Symbol.toStringTag] : typeof value;
  if (tag !== "Float32Array") fail(name, String(tag), "give a Float32Array");
}

/** Lengths, places or numbers of axes as the module takes them. */
export function words(name: string, values: Shape): Uint32Array {
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) fail(name, typeof values, "give a list of whole numbers");
  for (const value of values) checkSize(name, value, MAX_WORD);
  return Uint32Array.from(values);
}

export function checkWord(name: string, value: number): void {
  checkSize(name, value, MAX_WORD);
}

export function checkReduction(value: Reduction): void {
  // The module knows the names.
  if (typeof value !== "string") fail("reduction", typeof value, "give a name");
}

/** Steps as the module takes them. */
export function encode(steps: readonly Step[]): { names: string; numbers: Float32Array } {
  if (!Array.isArray(steps)) fail("steps", typeof steps, "give a list of steps");
  const numbers = new Float32Array(2 * steps.length);
  const names = steps.map((step: Step, i) => {
    const [name, ...given] = typeof step === "string" ? [step] : step;
    const isName = typeof name === "string" && /^\w+$/.test(name);
    const n = numbersOf[name] ?? 0;
    if (!isName || given.length !== n || given.some((number) => typeof number !== "number")) {
      fail("step", JSON.stringify(step), `give a name, and as many numbers as it takes: ${n}`);
    }
    numbers.set(given, 2 * i);
    return name;
  });
  return { names: names.join(" "), numbers };
}

/** A block of parameters as words. */
export function params(value: ArrayBufferView | ArrayBuffer): Uint32Array {
  const bytes = bytesOf("args", value);
  if (bytes.length === 0 || bytes.length % 4 !== 0) {
    fail("args", `parameters of ${bytes.length} bytes`, "give whole words of 4 bytes, at least one");
  }
  return new Uint32Array(bytes.slice().buffer);
}
