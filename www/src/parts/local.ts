// Random access to an indexed LZ4 file on this machine.
//
// `openFrame` compares the index of a file in a blob with the header of every block before those that are read, so it would
// read most of a large file. This trusts the index, whose checksum it verifies, as `openFrame` does for a URL, and lets the
// package decompress a frame of only the blocks that are needed.
import { decompress } from "pagepress";
import { FrameError } from "../lz4/error";
import { xxh32 } from "../lz4/xxh32";

const SIGNATURE = 0x58495050;
const FOOTER_BYTES = 28;
const ENTRY_BYTES = 8;
const HEAD_BYTES = 8;
const MAGIC = 0x184d2204;
const STORED = 0x8000_0000;

/** Positions of the blocks: `files[i]` in the file, `contents[i]` in the content; both have an entry for the end. */
interface Places {
  files: Float64Array;
  contents: Float64Array;
  /** The byte of the frame's descriptor with the size of its blocks. */
  blockByte: number;
  blockChecksums: boolean;
}

type Read = (start: number, end: number) => Promise<Uint8Array>;

/** Reads the index at the end of a file of `length` bytes; null if there is none. */
async function readPlaces(read: Read, length: number): Promise<Places | null> {
  if (length < FOOTER_BYTES + HEAD_BYTES) return null;
  const footer = viewOf(await read(length - FOOTER_BYTES, length));
  const frameBytes = footer.getUint32(0, true) + 2 ** 32 * footer.getUint32(4, true);
  const nBlocks = footer.getUint32(8, true);
  const start = frameBytes + HEAD_BYTES;
  // The content of the file must be one frame and its index.
  if (footer.getUint32(24, true) !== SIGNATURE || start + ENTRY_BYTES * nBlocks + FOOTER_BYTES !== length) return null;
  const index = await read(start, length);
  if (xxh32(index.subarray(0, index.length - 8)) !== footer.getUint32(20, true)) {
    throw new FrameError("CHECKSUM_MISMATCH", "the checksum of the index does not match: the file is damaged");
  }
  const headerBytes = footer.getUint16(16, true);
  const header = await read(0, Math.min(headerBytes, frameBytes));
  const blockChecksums = (footer.getUint16(18, true) & 1) !== 0;
  const entries = viewOf(index);
  const [files, contents] = [new Float64Array(nBlocks + 1), new Float64Array(nBlocks + 1)];
  files[0] = headerBytes;
  for (let i = 0; i < nBlocks; i += 1) {
    const bytes = (entries.getUint32(ENTRY_BYTES * i, true) & ~STORED) >>> 0;
    files[i + 1] = (files[i] ?? 0) + 4 + bytes + (blockChecksums ? 4 : 0);
    contents[i + 1] = (contents[i] ?? 0) + entries.getUint32(ENTRY_BYTES * i + 4, true);
  }
  if ((files[nBlocks] ?? 0) > frameBytes) throw new FrameError("INVALID_FRAME", "the index names blocks after the end of the frame");
  return { files, contents, blockByte: header[5] ?? 0, blockChecksums };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns the header of a frame of independent blocks with `contentBytes` of content and without its checksum. */
function headerOf({ blockByte, blockChecksums }: Places, contentBytes: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(15);
  const view = viewOf(header);
  view.setUint32(0, MAGIC, true);
  header[4] = blockChecksums ? 0x78 : 0x68;
  header[5] = blockByte;
  view.setUint32(6, contentBytes, true);
  header[14] = (xxh32(header.subarray(4, 14)) >>> 8) & 255;
  return header;
}

/** Returns the last index whose value is at most `goal`. */
function blockAt(starts: Float64Array, goal: number): number {
  let [low, high] = [0, starts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= goal) low = middle;
    else high = middle;
  }
  return low;
}

/** A frame of only the blocks that hold a part of the content. */
export interface PartFrame {
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of its content before the part, and in all. */
  before: number;
  contentBytes: number;
}

/** An indexed file of which parts can be read. */
export interface IndexedFile {
  contentBytes: number;
  /** Returns the blocks that hold `length` bytes from `offset`, which must be in the content, as a frame. */
  frame(offset: number, length: number): Promise<PartFrame>;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Opens a file of `length` bytes; null if it has no index. */
export async function openIndexed(read: Read, length: number): Promise<IndexedFile | null> {
  const places = await readPlaces(read, length);
  if (!places) return null;
  const { files, contents } = places;
  const contentBytes = contents.at(-1) ?? 0;
  const frame = async (offset: number, wanted: number): Promise<PartFrame> => {
    const [first, last] = [blockAt(contents, offset), blockAt(contents, offset + wanted - 1)];
    const start = contents[first] ?? 0;
    const bytes = (contents[last + 1] ?? 0) - start;
    const blocks = (await read(files[first] ?? 0, files[last + 1] ?? 0)) as Uint8Array<ArrayBuffer>;
    const parts = [headerOf(places, bytes), blocks, new Uint8Array(4)];
    return { bytes: new Uint8Array(await new Blob(parts).arrayBuffer()), before: offset - start, contentBytes: bytes };
  };
  return {
    contentBytes,
    frame,
    async read(offset, wanted) {
      const part = Math.min(wanted, contentBytes - offset);
      if (part <= 0) return new Uint8Array();
      const { bytes, before, contentBytes: most } = await frame(offset, part);
      return (await decompress(bytes, { maxOutputSize: most })).subarray(before, before + part);
    },
  };
}
