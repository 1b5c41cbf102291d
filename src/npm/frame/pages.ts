import { entryWord, PAGE_KIND, PAGE_SIZES } from "../format/packed-pages.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { cutFrame } from "./cut.js";

/** A frame as pages of one size, for a GPU to decode. */
interface FramePages {
  readonly pageSize: number;
  /** Bytes of content. */
  readonly byteLength: number;
  /** Two words a page, as in `PackedPages`. */
  readonly table: Uint32Array<ArrayBuffer>;
  /** The checksum of the content, if the frame has one. */
  readonly contentChecksum: number | null;
  /** Bytes of the blocks, each at a multiple of 4. */
  readonly packedBytes: number;
  /** Writes the blocks to memory that is all zeros. */
  fill(to: Uint8Array): void;
}

const LARGEST_PAGE = 65536;
const CHECKSUM_BYTES = 4;

interface Block {
  readonly data: Uint8Array;
  readonly isStored: boolean;
}

/** `bytes` as pages, if they are one frame of independent blocks of at most 64 KiB which, as far as can be seen, hold as
 * much as the first, the last as much or less; else null. Blocks are checked by their checksums if they have them. */
export function framePages(bytes: Uint8Array, cpu: CpuModule): FramePages | null {
  const frame = cutFrame(bytes, cpu);
  if (!frame || frame.blockSize !== LARGEST_PAGE || frame.starts.length < 2) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksumBytes = frame.blockChecksums ? CHECKSUM_BYTES : 0;
  const blocks: Block[] = [];
  for (let i = 0; i + 1 < frame.starts.length; i += 1) {
    const start = frame.starts[i] as number;
    const end = (frame.starts[i + 1] as number) - checksumBytes;
    const data = bytes.subarray(start + 4, end);
    if (frame.blockChecksums && cpu.checksum(data) !== view.getUint32(end, true)) return null;
    blocks.push({ data, isStored: view.getUint32(start, true) >= 0x8000_0000 });
  }
  const first = contentLength(blocks[0] as Block, cpu);
  const last = contentLength(blocks[blocks.length - 1] as Block, cpu);
  const pageSize = blocks.length === 1 ? LARGEST_PAGE : first;
  const isPage = PAGE_SIZES.includes(pageSize);
  const byteLength = (blocks.length - 1) * pageSize + last;
  if (!isPage || last === 0 || last > pageSize || (frame.contentSize ?? byteLength) !== byteLength) return null;
  return { pageSize, byteLength, contentChecksum: frame.contentChecksum, ...placed(blocks) };
}

/** The blocks one after the other, and their table. */
function placed(blocks: readonly Block[]): Pick<FramePages, "table" | "packedBytes" | "fill"> {
  const table = new Uint32Array(2 * blocks.length);
  let words = 0;
  blocks.forEach(({ data, isStored }, i) => {
    table[2 * i] = words;
    table[2 * i + 1] = entryWord(isStored ? PAGE_KIND.stored : PAGE_KIND.lz4, data.length);
    words += Math.ceil(data.length / 4);
  });
  const fill = (to: Uint8Array): void => blocks.forEach(({ data }, i) => to.set(data, 4 * (table[2 * i] as number)));
  return { table, packedBytes: 4 * words, fill };
}

/** Bytes that a block holds; 0 if it is wrong, which whoever decodes it will tell. */
function contentLength({ data, isStored }: Block, cpu: CpuModule): number {
  if (isStored) return data.length;
  try {
    return cpu.decompressSync(data, "block", { limit: LARGEST_PAGE }).length;
  } catch {
    return 0;
  }
}
