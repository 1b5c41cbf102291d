import { PagepressError } from "./errors.js";
import { viewAs, viewOf } from "./views.js";

/** Most bytes that a call takes or gives: input and output lie side by side in the 4 GiB that a module can address. */
export const MAX_BYTES = 2 ** 30;

/** Throws `INVALID_ARGUMENT` unless `value` is a whole number from 0 to `most`. */
export function checkSize(name: string, value: unknown, most: number): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
  fail(name, String(value), `give a whole number from 0 to ${most}`);
}

/** The place for output of at most `limit` bytes: the start of `into` if that is given, else a new array. */
export interface OutputTarget {
  readonly limit: number;
  readonly into?: Uint8Array<ArrayBuffer> | undefined;
}

/** An earlier name of `OutputTarget`. */
export type Room = OutputTarget;

/** Returns the limit that `maxOutputSize` sets. */
export function checkedLimit(maxOutputSize: number = MAX_BYTES): number {
  checkSize("maxOutputSize", maxOutputSize, Number.MAX_SAFE_INTEGER);
  return Math.min(maxOutputSize, MAX_BYTES);
}

/** Returns the place for the content of `bytes`. Throws `INVALID_ARGUMENT` for an array that overlaps `bytes`. */
export function checkedTarget({ maxOutputSize, into }: { maxOutputSize?: number; into?: unknown }, bytes: Uint8Array): OutputTarget {
  const limit = checkedLimit(maxOutputSize);
  if (into === undefined) return { limit };
  const view = viewAs(Uint8Array, into) ?? fail("into", kindOf(into), "give a Uint8Array");
  const isApart = view.byteOffset >= bytes.byteOffset + bytes.length || bytes.byteOffset >= view.byteOffset + view.length;
  if (view.buffer === bytes.buffer && !isApart) fail("into", "memory of the input", "give an array apart from it");
  // Its buffer may be of any kind, since it is only written to.
  return { limit, into: view as Uint8Array<ArrayBuffer> };
}

/** The bytes of a buffer or of a view of one, of whatever realm, in a view that keeps its length; throws `INVALID_ARGUMENT` for
 * anything else, and for more than 1 GiB. */
export function checkedBytes(name: string, value: unknown): Uint8Array {
  const bytes = bytesOf(name, value);
  if (bytes.length > MAX_BYTES) fail(name, `${bytes.length} bytes`, "give at most 1 GiB; longer content in parts");
  return bytes;
}

/** Remedies for values of other types. */
const INSTEAD: Readonly<Record<string, string>> = {
  string: "give its bytes: new TextEncoder().encode(text)",
  Array: "give Uint8Array.from(array)",
  Blob: "give await blob.arrayBuffer(), or pipe blob.stream() through a stream of this package",
  File: "give await file.arrayBuffer(), or pipe file.stream() through a stream of this package",
  Response: "give await response.arrayBuffer(), or pipe response.body through a stream of this package",
  ReadableStream: "pipe it through a Lz4CompressionStream or Lz4DecompressionStream",
  Promise: "await it",
};

/** The bytes of a buffer or of a view of one, of whatever realm; throws `INVALID_ARGUMENT` for anything else. */
export function bytesOf(name: string, value: unknown): Uint8Array {
  const bytes = viewOf(value);
  if (bytes) return bytes;
  const kind = kindOf(value);
  return fail(name, kind, INSTEAD[kind] ?? "give a Uint8Array, an ArrayBuffer or another view of one");
}

/** The class of a value, or its type. */
function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return /^\[object (\w+)\]$/.exec(Object.prototype.toString.call(value))?.[1] ?? "object";
}

/** Throws `INVALID_ARGUMENT` for an option that is none of `known`: a slip of the keyboard would be ignored. */
export function checkOptions<Options extends object>(options: Options, known: Readonly<Record<keyof Options, true>>): void {
  for (const name of Object.keys(options ?? fail("options", String(options), "give an object, or leave them out"))) {
    if (!Object.hasOwn(known, name)) fail("option", name, `give one of ${Object.keys(known).join(", ")}`);
  }
}

/** `bytes` in a buffer that the caller does not have any more. */
export function takeOver(bytes: Uint8Array): Uint8Array {
  return detaching(() => structuredClone(bytes, { transfer: [bytes.buffer] as ArrayBuffer[] }));
}

/** Detaches the buffer of `bytes`, and frees it at once where the language can, else when the collector does. */
export function release(bytes: Uint8Array): void {
  const buffer = bytes.buffer as ArrayBuffer & { transfer?: (length: number) => unknown };
  detaching(() => (buffer.transfer ? buffer.transfer(0) : structuredClone(0, { transfer: [buffer] })));
}

function detaching<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = "invalid bytes: an array whose buffer cannot be transferred; leave `transfer` out";
    throw new PagepressError("INVALID_ARGUMENT", message, { cause: error });
  }
}

/** A view of `value` that keeps its length; throws `INVALID_ARGUMENT` unless it is a `Uint32Array`, of whatever realm. */
export function checkedWords(name: string, value: unknown): Uint32Array {
  return viewAs(Uint32Array, value) ?? fail(name, typeof value, "give a Uint32Array");
}

/** Throws `INVALID_ARGUMENT` for a value that is none of `values`. */
export function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (typeof value === "string" && values.includes(value)) return;
  fail(name, String(value), `give one of ${values.map((one) => JSON.stringify(one)).join(", ")}`);
}

/** Throws `INVALID_ARGUMENT`: what was given for `name`, and what to give. */
export function fail(name: string, value: string, expected: string): never {
  throw new PagepressError("INVALID_ARGUMENT", `invalid ${name}: ${value}; ${expected}`);
}

/** An array may be detached or shrink while a call waits. */
export function checkUnchanged(array: Uint8Array | Float32Array, length: number): void {
  if (array.length === length) return;
  const message = `invalid bytes: an array that shrank to ${array.byteLength} bytes; leave it as it is until the call is done`;
  throw new PagepressError("INVALID_ARGUMENT", message);
}
