import { MAGIC, INDEPENDENT, BLOCK_CHECKSUMS, CONTENT_SIZE, CONTENT_CHECKSUM, SIZED_HEADER_BYTES, END_MARK_BYTES, blockBytes } from "../format/frame-header.js";
import type { CpuModule } from "../modules/cpu-module.js";

/** The header of a frame, and the positions of its blocks. */
export interface BlockedFrame {
  /** Maximum bytes of content of a block. */
  blockSize: number;
  blockChecksums: boolean;
  contentSize: number | null;
  contentChecksum: number | null;
  /** Offset of each block, which includes its size and its checksum, and the end of the last block. */
  starts: number[];
}

/** Returns the positions of the blocks of `bytes`; null unless it is one complete frame of independent blocks. */
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
