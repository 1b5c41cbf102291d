// The index of blocks that Pagepress puts into a skippable frame after a frame, when asked to.
import type { Window } from "./window";
import { xxh32 } from "./xxh32";

/** What an index tells. */
export interface SeekIndex {
  nBlocks: number;
  /** Bytes of the frame that it describes. */
  frameBytes: number;
  /** Bytes of all content. */
  contentBytes: number;
  /** Whether its own checksum is right. */
  sound: boolean;
}

const MAGIC = 0x184d2a55;
const SIGNATURE = 0x58495050;
const FOOTER_BYTES = 28;
const ENTRY_BYTES = 8;

/** The index in the skippable frame whose `length` bytes begin at `start`; null if it is none. */
export async function readIndex(file: Window, magic: number, start: number, length: number): Promise<SeekIndex | null> {
  if (magic !== MAGIC || length < FOOTER_BYTES) return null;
  const bytes = await file.again(start, start + length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footer = length - FOOTER_BYTES;
  const word = (at: number): number => view.getUint32(at, true);
  if (word(length - 4) !== SIGNATURE) return null;
  const nBlocks = word(footer + 8);
  if (nBlocks * ENTRY_BYTES !== footer) return null;
  let contentBytes = 0;
  for (let i = 0; i < nBlocks; i += 1) contentBytes += word(i * ENTRY_BYTES + 4);
  const frameBytes = word(footer) + 2 ** 32 * word(footer + 4);
  return { nBlocks, frameBytes, contentBytes, sound: word(length - 8) === xxh32(bytes.subarray(0, length - 8)) };
}
