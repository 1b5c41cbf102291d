import { PagepressError } from "./errors.js";
import { viewAs, viewOf } from "./views.js";

/** Maximum number of bytes of the input or the output of a call: a module addresses 4 GiB, which must hold both. */
export const MAX_BYTES = 2 ** 30;

/** Throws `INVALID_ARGUMENT` unless `value` is a whole number from 0 to `most`, by default 2^53 - 1. */
export function checkSize(name: string, value: unknown, most: number = Number.MAX_SAFE_INTEGER): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
  fail(name, String(value), `give a whole number from 0 to ${most}`);
}

/** Destination of at most `limit` bytes of output: the start of `into` if it is defined, else a new array. */
export interface OutputTarget {
  readonly limit: number;
  readonly into?: Uint8Array<ArrayBuffer> | undefined;
}

/** Returns `maxOutputSize`, but at most 1 GiB, which is also the default. Throws `INVALID_ARGUMENT` if it is not a whole
 * number. */
export function checkedLimit(maxOutputSize: number = MAX_BYTES): number {
  checkSize("maxOutputSize", maxOutputSize);
  return Math.min(maxOutputSize, MAX_BYTES);
}

/** Throws `OUTPUT_LIMIT` if `length` is more than `limit` bytes of output. */
export function checkLimit(length: number, limit: number): void {
  if (length > limit) throw new PagepressError("OUTPUT_LIMIT", `output exceeds the limit of ${limit} bytes`);
}

/** Returns the destination of the content of `bytes`. Throws `INVALID_ARGUMENT` unless `into` is a `Uint8Array` that does
 * not overlap `bytes`. */
export function checkedTarget({ maxOutputSize, into }: { maxOutputSize?: number; into?: unknown }, bytes: Uint8Array): OutputTarget {
  const limit = checkedLimit(maxOutputSize);
  if (into === undefined) return { limit };
  const view = viewAs(Uint8Array, into) ?? fail("into", kindOf(into), "give a Uint8Array");
  const isApart = view.byteOffset >= bytes.byteOffset + bytes.length || bytes.byteOffset >= view.byteOffset + view.length;
  if (view.buffer === bytes.buffer && !isApart) fail("into", "memory of the input", "give an array apart from it");
  // The buffer may be shared memory, since it is only written to.
  return { limit, into: view as Uint8Array<ArrayBuffer> };
}

/** Returns the bytes of a buffer, or of a view of a buffer, as a view of fixed length; accepts objects of every realm.
 * Throws `INVALID_ARGUMENT` for other values, and for more than 1 GiB. */
export function checkedBytes(name: string, value: unknown): Uint8Array {
  const bytes = bytesOf(name, value);
  if (bytes.length > MAX_BYTES) fail(name, `${bytes.length} bytes`, "give at most 1 GiB; longer content in parts");
  return bytes;
}

/** Advice in error messages, by the type of the value. */
const INSTEAD: Readonly<Record<string, string>> = {
  string: "give its bytes: new TextEncoder().encode(text)",
  Array: "give Uint8Array.from(array)",
  Blob: "give await blob.arrayBuffer(), or pipe blob.stream() through a stream of this package",
  File: "give await file.arrayBuffer(), or pipe file.stream() through a stream of this package",
  Response: "give await response.arrayBuffer(), or pipe response.body through a stream of this package",
  ReadableStream: "pipe it through a Lz4CompressionStream or Lz4DecompressionStream",
  Promise: "await it",
};

/** Returns the bytes of a buffer, or of a view of a buffer, of any realm; throws `INVALID_ARGUMENT` for other values. */
export function bytesOf(name: string, value: unknown): Uint8Array {
  const bytes = viewOf(value);
  if (bytes) return bytes;
  const kind = kindOf(value);
  return fail(name, kind, INSTEAD[kind] ?? "give a Uint8Array, an ArrayBuffer or another view of one");
}

/** Returns the class of an object, or the type of another value. */
function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return /^\[object (\w+)\]$/.exec(Object.prototype.toString.call(value))?.[1] ?? "object";
}

/** Throws `INVALID_ARGUMENT` for an option that is not in `known`: a misspelled option would be ignored. */
export function checkOptions<Options extends object>(options: Options, known: Readonly<Record<keyof Options, true>>): void {
  for (const name of Object.keys(options ?? fail("options", String(options), "give an object, or leave them out"))) {
    if (!Object.hasOwn(known, name)) fail("option", name, `give one of ${Object.keys(known).join(", ")}`);
  }
}

/** Transfers the buffer of `bytes` away from the caller, and returns the bytes in the transferred buffer. Throws
 * `INVALID_ARGUMENT` if it cannot be transferred. */
export function takeOver(bytes: Uint8Array): Uint8Array {
  return detaching(() => structuredClone(bytes, { transfer: [bytes.buffer] as ArrayBuffer[] }));
}

/** Detaches the buffer of `bytes`. Its memory is freed at once where `ArrayBuffer.prototype.transfer` exists, else by the
 * garbage collector. Throws `INVALID_ARGUMENT` if it cannot be transferred. */
export function release(bytes: Uint8Array): void {
  const buffer = bytes.buffer as ArrayBuffer & { transfer?: (length: number) => unknown };
  detaching(() => (buffer.transfer ? buffer.transfer(0) : structuredClone(0, { transfer: [buffer] })));
}

function detaching<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return fail("bytes", "an array whose buffer cannot be transferred", "leave `transfer` out", { cause: error });
  }
}

/** Returns a view of `value` of fixed length; throws `INVALID_ARGUMENT` unless it is a `Uint32Array` of any realm. */
export function checkedWords(name: string, value: unknown): Uint32Array {
  return viewAs(Uint32Array, value) ?? fail(name, typeof value, "give a Uint32Array");
}

/** Throws `INVALID_ARGUMENT` unless `value` is one of `values`. */
export function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (typeof value === "string" && values.includes(value)) return;
  fail(name, String(value), `give one of ${values.map((one) => JSON.stringify(one)).join(", ")}`);
}

/** Throws `INVALID_ARGUMENT` with a message of the argument's name, its value and the expected value. */
export function fail(name: string, value: string, expected: string, options?: ErrorOptions): never {
  throw new PagepressError("INVALID_ARGUMENT", `invalid ${name}: ${value}; ${expected}`, options);
}

/** Throws `INVALID_ARGUMENT` if the length of `array` is not `length`: it may be detached or shrink while a call waits. */
export function checkUnchanged(array: Uint8Array | Float32Array, length: number): void {
  if (array.length === length) return;
  fail("bytes", `an array that shrank to ${array.byteLength} bytes`, "leave it as it is until the call is done");
}
