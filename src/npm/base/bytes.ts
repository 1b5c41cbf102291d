export type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a page of virtual memory. */
const PAGE_BYTES = 4096;

/** Returns the concatenation of `parts`. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(totalOf(parts));
  touch(whole, 0, whole.length);
  return joinTo(whole, parts);
}

/** Returns the number of bytes of `parts`. */
export function totalOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Writes `parts` one after the other to `whole`, which has their length, and returns it. */
export function joinTo(whole: Bytes, parts: readonly Uint8Array[]): Bytes {
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Faults in the pages of a newly allocated array: page faults in the middle of a copy cost a quarter more. */
export function touch(fresh: Uint8Array, start: number, end: number): void {
  for (let i = start; i < end; i += PAGE_BYTES) fresh[i] = 0;
}

/** Returns the concatenation of `parts`, without a copy if there is only one. */
export function joined(parts: readonly Bytes[]): Bytes {
  const [first] = parts;
  return first && parts.length === 1 ? first : join(parts);
}

/** Returns `nBytes` rounded up to a multiple of `blockSize`. */
export function wholeBlocks(nBytes: number, blockSize: number): number {
  return Math.ceil(nBytes / blockSize) * blockSize;
}
