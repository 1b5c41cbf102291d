import type { CpuModule } from "./cpu-module.js";

/** Bytes of magic number and descriptor of a frame that names its content size. */
export const SIZED_HEADER_BYTES = 15;
/** A page of memory, which a system gives to a process when it is first touched. */
const PAGE_BYTES = 4096;
/** What ends a frame's blocks: a block of no bytes. */
export const END_MARK_BYTES = 4;

const MAGIC = 0x184d2204;
/** Bits of the flags. */
const INDEPENDENT = 0x20;
const BLOCK_CHECKSUMS = 0x10;
const CONTENT_SIZE = 0x08;
const CONTENT_CHECKSUM = 0x04;
/** The bit of a block's size that says that it is not compressed. */
export const STORED = 0x8000_0000;

/** A frame cut into its blocks. */
export interface BlockedFrame {
  /** Most bytes of content of a block. */
  blockSize: number;
  blockChecksums: boolean;
  contentSize: number | null;
  contentChecksum: number | null;
  /** Where each block starts, its size before it and its checksum behind it included; and where the last one ends. */
  starts: number[];
}

/** The blocks of `bytes` if that is one frame of independent blocks, complete and with a sound header; else null. */
export function cutFrame(bytes: Uint8Array, cpu: CpuModule): BlockedFrame | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 7 || view.getUint32(0, true) !== MAGIC) return null;
  const flags = view.getUint8(4);
  const has = (bit: number): boolean => (flags & bit) !== 0;
  const code = view.getUint8(5) >> 4;
  if (!has(INDEPENDENT) || code < 4 || code > 7) return null;
  if (has(CONTENT_SIZE) && bytes.length < SIZED_HEADER_BYTES) return null;
  const contentSize = has(CONTENT_SIZE) ? Number(view.getBigUint64(6, true)) : null;
  const blockSize = 2 ** (8 + 2 * code);
  const checksums = { contentChecksum: has(CONTENT_CHECKSUM), blockChecksums: has(BLOCK_CHECKSUMS) };
  const header = cpu.frameHeader({ blockSize, ...checksums }, contentSize ?? undefined);
  if (header.some((byte, i) => byte !== bytes[i])) return null;

  const starts = [header.length];
  let at = header.length;
  for (;;) {
    if (at + END_MARK_BYTES > bytes.length) return null;
    const size = view.getUint32(at, true);
    if (size === 0) break;
    at += blockBytes(size, has(BLOCK_CHECKSUMS));
    starts.push(at);
  }
  at += END_MARK_BYTES;
  const contentChecksum = has(CONTENT_CHECKSUM) && at + 4 <= bytes.length ? view.getUint32(at, true) : null;
  if (at + (has(CONTENT_CHECKSUM) ? 4 : 0) !== bytes.length) return null;
  return { blockSize, blockChecksums: has(BLOCK_CHECKSUMS), contentSize, contentChecksum, starts };
}

/** The content size in the header that `bytes` start with; 0 if there is none. */
export function contentSizeOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isSized = bytes.length >= SIZED_HEADER_BYTES && view.getUint32(0, true) === MAGIC && (view.getUint8(4) & CONTENT_SIZE) !== 0;
  return isSized ? Number(view.getBigUint64(6, true)) : 0;
}

/** Bytes of a block with the word before it, which says its size, and its checksum. */
export function blockBytes(sizeWord: number, blockChecksums: boolean): number {
  return 4 + (sizeWord & ~STORED) + (blockChecksums ? 4 : 0);
}

/** Whether the first frame of `bytes` is of the kind that GPUs decode: independent blocks of at most 64 KiB. */
export function isForGpu(bytes: Uint8Array): boolean {
  const [m0, m1, m2, m3, flags = 0, block = 0] = bytes;
  const isFrame = m0 === 0x04 && m1 === 0x22 && m2 === 0x4d && m3 === 0x18;
  return isFrame && (flags & INDEPENDENT) !== 0 && block >> 4 === 4;
}

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
