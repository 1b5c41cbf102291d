import { PagepressError } from "./errors.js";

/** Most bytes that a call takes or gives: input and output lie side by side in the 4 GiB that a module can address. */
export const MAX_BYTES = 2 ** 30;

/** Throws `INVALID_ARGUMENT` unless `value` is a whole number from 0 to `most`. */
export function checkSize(name: string, value: unknown, most: number): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
  fail(name, String(value), `give a whole number from 0 to ${most}`);
}

/** The limit that `maxOutputSize` sets. */
export function checkedLimit(maxOutputSize: number = MAX_BYTES): number {
  checkSize("maxOutputSize", maxOutputSize, Number.MAX_SAFE_INTEGER);
  return Math.min(maxOutputSize, MAX_BYTES);
}

/** Throws `INVALID_ARGUMENT` unless `value` is a `Uint8Array`, of whatever realm, of at most 1 GiB. */
export function checkBytes(name: string, value: unknown): void {
  if (tag(value) !== "Uint8Array") fail(name, typeof value, "give a Uint8Array");
  const { length } = value as Uint8Array;
  if (length > MAX_BYTES) fail(name, `${length} bytes`, "give at most 1 GiB; longer content in parts");
}

/** The bytes of a buffer or of a view of one, of whatever realm; throws `INVALID_ARGUMENT` for anything else. */
export function bytesOf(name: string, value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const kind = Object.prototype.toString.call(value);
  if (kind === "[object ArrayBuffer]" || kind === "[object SharedArrayBuffer]") {
    return new Uint8Array(value as ArrayBuffer);
  }
  return fail(name, typeof value, "give an ArrayBuffer or a view of one");
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

/** Throws `INVALID_ARGUMENT` unless `value` is a `Uint32Array`, of whatever realm. */
export function checkWords(name: string, value: unknown): void {
  if (tag(value) !== "Uint32Array") fail(name, typeof value, "give a Uint32Array");
}

/** Throws `INVALID_ARGUMENT` for a value that is none of `values`. */
export function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (typeof value === "string" && values.includes(value)) return;
  fail(name, String(value), `give one of ${values.map((one) => JSON.stringify(one)).join(", ")}`);
}

function tag(value: unknown): string | undefined {
  return ArrayBuffer.isView(value) ? (value as Uint8Array)[Symbol.toStringTag] : undefined;
}

/** Throws `INVALID_ARGUMENT`: what was given for `name`, and what to give. */
export function fail(name: string, value: string, expected: string): never {
  throw new PagepressError("INVALID_ARGUMENT", `invalid ${name}: ${value}; ${expected}`);
}

/** An array may be detached or shrink while a call waits. */
export function checkUnchanged(bytes: Uint8Array, length: number): void {
  if (bytes.length === length) return;
  const message = `invalid bytes: an array that shrank to ${bytes.length} bytes; leave it as it is until the call is done`;
  throw new PagepressError("INVALID_ARGUMENT", message);
}
