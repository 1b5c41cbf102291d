export type Bytes = Uint8Array<ArrayBuffer>;

/** A page of memory, which a system gives to a process when it is first touched. */
const PAGE_BYTES = 4096;

/** Arrays one after the other. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  touch(whole, 0, whole.length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Has the system give the memory of a fresh array: to be stopped at each page in the middle of a copy costs a quarter
 * more. */
export function touch(fresh: Uint8Array, start: number, end: number): void {
  for (let i = start; i < end; i += PAGE_BYTES) fresh[i] = 0;
}

/** All `parts` in one array: the part itself if it is the only one. */
export function joined(parts: readonly Bytes[]): Bytes {
  const [first] = parts;
  return first && parts.length === 1 ? first : join(parts);
}

/** The least multiple of `blockSize` that is not below `nBytes`. */
export function wholeBlocks(nBytes: number, blockSize: number): number {
  return Math.ceil(nBytes / blockSize) * blockSize;
}
