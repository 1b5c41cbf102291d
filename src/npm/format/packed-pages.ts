import { checkLimit } from "../base/arguments.js";
import { type Bytes, join, joinTo, totalOf } from "../base/bytes.js";
import type { Level, PackedPages } from "../base/types.js";

/** Blocks and table of some pages. The offsets in the table are relative to the first of these blocks. */
export type Share = Pick<PackedPages, "packed" | "table">;

/** Page sizes in bytes that the GPU kernels support. */
export const PAGE_SIZES: readonly number[] = [4096, 8192, 16384, 32768, 65536];

/** Number of bits of the length in the second word of a table entry; the two upper bits are the kind of the page. */
const LENGTH_BITS = 30;

/** Returns the start of the block of a page in the packed bytes, and its length, from the table entry of the page. */
export function entryOf(table: Uint32Array, page: number): { start: number; length: number } {
  const word = table[2 * page + 1] as number;
  return { start: 4 * (table[2 * page] as number), length: word & (2 ** LENGTH_BITS - 1) };
}

/** Returns the compression ratio: bytes of pages divided by bytes of blocks and table; 1 if there are no pages. */
export function ratioOf(byteLength: number, storedBytes: number): number {
  return storedBytes === 0 ? 1 : byteLength / storedBytes;
}

/** Form and destination of compressed pages. */
export interface PagesForm {
  readonly pageSize: number;
  readonly level: Level;
  /** Array for the blocks, from its start; default a new one. */
  readonly into?: Bytes | undefined;
}

/** Concatenates shares of pages to one batch. Throws `OUTPUT_LIMIT` if the blocks do not fit in the given array. */
export function joinPages(shares: readonly Share[], { pageSize, into }: PagesForm, byteLength: number, dictionaryId: number): PackedPages {
  const packed = joinBlocks(shares.map((share) => share.packed), into);
  const table = new Uint32Array(shares.reduce((sum, share) => sum + share.table.length, 0));
  let [entry, base] = [0, 0];
  for (const share of shares) {
    table.set(share.table, entry);
    const end = entry + share.table.length;
    for (; entry < end; entry += 2) table[entry] = (table[entry] as number) + base;
    base += share.packed.length / 4;
  }
  return { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength), dictionaryId };
}

function joinBlocks(blocks: readonly Bytes[], into: Bytes | undefined): Bytes {
  if (!into) return join(blocks);
  const total = totalOf(blocks);
  checkLimit(total, into.length);
  return joinTo(into.subarray(0, total), blocks);
}
