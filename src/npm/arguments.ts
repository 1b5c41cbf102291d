import { PagepressError } from "./errors.js";

/** Throws `INVALID_ARGUMENT` unless `value` is a whole number from 0 to `most`. */
export function checkSize(name: string, value: unknown, most: number): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
  fail(name, String(value), `give a whole number from 0 to ${most}`);
}

/** Throws `INVALID_ARGUMENT` unless `value` is a `Uint8Array`, of whatever realm. */
export function checkBytes(name: string, value: unknown): void {
  if (tag(value) !== "Uint8Array") fail(name, typeof value, "give a Uint8Array");
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
