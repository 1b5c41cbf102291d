/** Bytes of the header of a frame with a content size: magic number and descriptor. */
const SIZED_HEADER_BYTES = 15;
/** Bytes of the end mark after the blocks of a frame: a block size of zero. */
export const END_MARK_BYTES = 4;

const MAGIC = 0x184d2204;
/** Bits of the flag byte. */
const INDEPENDENT = 0x20;
const CONTENT_SIZE = 0x08;

/** Returns the content size in the frame header at the start of `bytes`; 0 if there is none. */
export function contentSizeOf(bytes: Uint8Array): number {
  const isSized = bytes.length >= SIZED_HEADER_BYTES && wordAt(bytes, 0) === MAGIC && ((bytes[4] as number) & CONTENT_SIZE) !== 0;
  return isSized ? wordAt(bytes, 6) + wordAt(bytes, 10) * 2 ** 32 : 0;
}

/** Returns the little-endian word at byte `at`. A `DataView` and a `bigint` for each short call take longer. */
function wordAt(bytes: Uint8Array, at: number): number {
  const byte = (i: number): number => (bytes[at + i] as number) << (8 * i);
  return (byte(0) | byte(1) | byte(2) | byte(3)) >>> 0;
}

/** Returns true if GPUs can decode the first frame of `bytes`: independent blocks of at most 64 KiB. */
export function isForGpu(bytes: Uint8Array): boolean {
  const [m0, m1, m2, m3, flags = 0, block = 0] = bytes;
  const isFrame = m0 === 0x04 && m1 === 0x22 && m2 === 0x4d && m3 === 0x18;
  return isFrame && (flags & INDEPENDENT) !== 0 && block >> 4 === 4;
}
