// Content of the test files, which `write.py` and `read.py` define too, and checks that work in Node and in pages.
export const ROWS = 20_000;
export const MESSAGES = 500;

const arrays = { u1: Uint8Array, i2: Int16Array, u4: Uint32Array, f8: Float64Array };

/** Returns the numbers of `numbers` in write.py. */
export function numbers(type, n = ROWS) {
  return arrays[type].from({ length: n }, (_, i) => Math.floor(i / 3) + (i * i) % 7);
}

export const half = (i) => i * 0.5;
export const name = (i) => `name ${i % 17}`;
export const message = (i) => `message ${i} of the topic`;

/** Throws unless two arrays have equal elements. */
export function same(actual, expected, what = "array") {
  if (actual.length !== expected.length) throw new Error(`${what}: ${actual.length} elements, expected ${expected.length}`);
  for (let i = 0; i < expected.length; i += 1) {
    if (actual[i] !== expected[i]) throw new Error(`${what}: element ${i} is ${actual[i]}, expected ${expected[i]}`);
  }
}

/** Throws unless `work` throws or rejects with the code. Returns the error. */
export async function refused(code, work) {
  let result;
  try {
    result = await work();
  } catch (error) {
    const found = error.cause?.code ? error.cause : error;
    if (found.code === code) return found;
    throw new Error(`expected ${code}, found ${error}`, { cause: error });
  }
  throw new Error(`expected ${code}, found ${result}`);
}
