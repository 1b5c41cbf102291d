/** Bytes of the header of a frame with a content size: magic number and descriptor. */
export const SIZED_HEADER_BYTES = 15;
/** Bytes of the end mark after the blocks of a frame: a block size of zero. */
export const END_MARK_BYTES = 4;

export const MAGIC = 0x184d2204;
/** Bits of the flag byte. */
export const INDEPENDENT = 0x20;
export const BLOCK_CHECKSUMS = 0x10;
export const CONTENT_SIZE = 0x08;
export const CONTENT_CHECKSUM = 0x04;
/** Bit of the block size that marks an uncompressed block. */
const STORED = 0x8000_0000;

/** Returns the content size in the frame header at the start of `bytes`; 0 if there is none. */
export function contentSizeOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isSized = bytes.length >= SIZED_HEADER_BYTES && view.getUint32(0, true) === MAGIC && (view.getUint8(4) & CONTENT_SIZE) !== 0;
  return isSized ? Number(view.getBigUint64(6, true)) : 0;
}

/** Returns the bytes of a block, including the word with its size and its checksum. */
export function blockBytes(sizeWord: number, blockChecksums: boolean): number {
  return 4 + (sizeWord & ~STORED) + (blockChecksums ? 4 : 0);
}

/** Returns true if GPUs can decode the first frame of `bytes`: independent blocks of at most 64 KiB. */
export function isForGpu(bytes: Uint8Array): boolean {
  const [m0, m1, m2, m3, flags = 0, block = 0] = bytes;
  const isFrame = m0 === 0x04 && m1 === 0x22 && m2 === 0x4d && m3 === 0x18;
  return isFrame && (flags & INDEPENDENT) !== 0 && block >> 4 === 4;
}
