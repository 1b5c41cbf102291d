import { bytesOf, checkOneOf, checkSize, fail } from "../arguments.js";
import { unshared, viewAs } from "../views.js";
import type { Reduction, Shape, Step } from "./types.js";

const MAX_WORD = 2 ** 32 - 1;

/** The module's numbers of steps: those of `src/tensor/step.rs`. */
const codes: ReadonlyMap<unknown, number> = new Map([
  ["relu", 1],
  ["leakyRelu", 2],
  ["elu", 3],
  ["sigmoid", 4],
  ["tanh", 5],
  ["swish", 6],
  ["gelu", 7],
  ["geluTanh", 8],
  ["clip", 9],
  ["scale", 10],
  ["offset", 11],
  ["exp", 12],
  ["log", 13],
  ["sqrt", 14],
  ["abs", 15],
  ["reciprocal", 16],
  ["add", 32],
  ["sub", 33],
  ["mul", 34],
  ["div", 35],
  ["max", 36],
  ["min", 37],
]);

/** How many numbers steps take that take some. */
const numbersOf: Readonly<Record<string, number>> = { leakyRelu: 1, elu: 1, scale: 1, offset: 1, clip: 2 };

/** In the module's order. */
const REDUCTIONS: readonly Reduction[] = ["sum", "max", "min", "sumOfSquares"];

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

/** The module's number of a reduction. */
export function reductionNumber(value: Reduction): number {
  checkOneOf("reduction", value, REDUCTIONS);
  return REDUCTIONS.indexOf(value);
}

/** Steps as the module takes them: three numbers for each. */
export function encode(steps: readonly Step[]): Float32Array {
  if (!Array.isArray(steps)) fail("steps", typeof steps, "give a list of steps");
  const list: Step[] = Array.from(steps);
  const encoded = new Float32Array(3 * list.length);
  list.forEach((step, i) => {
    const [name, ...given] = typeof step === "string" ? [step] : step;
    const code = codes.get(name);
    if (code === undefined) return fail("step", JSON.stringify(step), "give a step that the types name");
    const n = numbersOf[name] ?? 0;
    if (given.length !== n || given.some((number) => typeof number !== "number")) {
      fail("step", JSON.stringify(step), `give a name, and as many numbers as it takes: ${n}`);
    }
    encoded.set([code, ...given], 3 * i);
  });
  return encoded;
}

/** A block of parameters as words. */
export function params(value: ArrayBufferView | ArrayBuffer): Uint32Array {
  const bytes = bytesOf("args", value);
  if (bytes.length === 0 || bytes.length % 4 !== 0) {
    fail("args", `parameters of ${bytes.length} bytes`, "give whole words of 4 bytes, at least one");
  }
  return new Uint32Array(bytes.slice().buffer);
}
