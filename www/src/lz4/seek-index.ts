// Parses the seek index that Pagepress optionally appends to a frame, in a skippable frame.
import type { Window } from "./window";
import { xxh32 } from "./xxh32";

/** The totals of a seek index. */
export interface SeekIndex {
  nBlocks: number;
  /** Bytes of the indexed frame. */
  frameBytes: number;
  /** Bytes of content of all blocks. */
  contentBytes: number;
  /** True if the checksum of the index matches. */
  checksumMatches: boolean;
}

const MAGIC = 0x184d2a55;
const SIGNATURE = 0x58495050;
const FOOTER_BYTES = 28;
const ENTRY_BYTES = 8;

/** Parses the `length` bytes of a skippable frame at `start`; returns null if they are not a seek index. */
export async function readIndex(file: Window, magic: number, start: number, length: number): Promise<SeekIndex | null> {
  if (magic !== MAGIC || length < FOOTER_BYTES) return null;
  const bytes = await file.range(start, start + length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footer = length - FOOTER_BYTES;
  const word = (at: number): number => view.getUint32(at, true);
  if (word(length - 4) !== SIGNATURE) return null;
  const nBlocks = word(footer + 8);
  if (nBlocks * ENTRY_BYTES !== footer) return null;
  let contentBytes = 0;
  for (let i = 0; i < nBlocks; i += 1) contentBytes += word(i * ENTRY_BYTES + 4);
  const frameBytes = word(footer) + 2 ** 32 * word(footer + 4);
  return { nBlocks, frameBytes, contentBytes, checksumMatches: word(length - 8) === xxh32(bytes.subarray(0, length - 8)) };
}
