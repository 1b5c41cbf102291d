import { PagepressError } from "./errors.js";

/** Most bytes that a call takes or gives: input and output lie side by side in the 4 GiB that a module can address. */
export const MAX_BYTES = 2 ** 30;

/** Throws `INVALID_ARGUMENT` unless `value` is a whole number from 0 to `most`. */
export function checkSize(name: string, value: unknown, most: number): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
  fail(name, String(value), `give a whole number from 0 to ${most}`);
}

/** Throws `INVALID_ARGUMENT` unless `value` is a `Uint8Array`, of whatever realm, of at most 1 GiB. */
export function checkBytes(name: string, value: unknown): void {
  if (tag(value) !== "Uint8Array") fail(name, typeof value, "give a Uint8Array");
  const { length } = value as Uint8Array;
  if (length > MAX_BYTES) fail(name, `${length} bytes`, "give at most 1 GiB; longer content in parts");
}

/** Throws `INVALID_ARGUMENT` unless `value` is a `Uint32Array`, of whatever realm. */
export function checkWords(name: string, value: unknown): void {
  if (tag(value) !== "Uint32Array") fail(name, typeof value, "give a Uint32Array");
}

function tag(value: unknown): string | undefined {
  return ArrayBuffer.isView(value) ? (value as Uint8Array)[Symbol.toStringTag] : undefined;
}

function fail(name: string, value: string, expected: string): never {
  throw new PagepressError("INVALID_ARGUMENT", `invalid ${name}: ${value}; ${expected}`);
}
