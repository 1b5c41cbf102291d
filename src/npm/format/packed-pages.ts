import { join } from "../base/bytes.js";
import type { PackedPages } from "../base/types.js";

/** Blocks and table of some pages, whose offsets count from the first of these blocks. */
export type Share = Pick<PackedPages, "packed" | "table">;

/** Bytes of pages that kernels know. */
export const PAGE_SIZES: readonly number[] = [4096, 8192, 16384, 32768, 65536];

/** Bits of the length in the second word of an entry; the two above are the kind of the page. */
const LENGTH_BITS = 30;

/** Returns where the block of a page starts in packed bytes, and its length, by the table's entry. */
export function entryOf(table: Uint32Array, page: number): { start: number; length: number } {
  const word = table[2 * page + 1] as number;
  return { start: 4 * (table[2 * page] as number), length: word & (2 ** LENGTH_BITS - 1) };
}

/** Bytes of pages over bytes of blocks and table; 1 for no pages. */
export function ratioOf(byteLength: number, storedBytes: number): number {
  return storedBytes === 0 ? 1 : byteLength / storedBytes;
}

/** Shares of pages, one after the other, as one batch. */
export function joinPages(shares: readonly Share[], pageSize: number, byteLength: number): PackedPages {
  const packed = join(shares.map((share) => share.packed));
  const table = new Uint32Array(shares.reduce((sum, share) => sum + share.table.length, 0));
  let [entry, base] = [0, 0];
  for (const share of shares) {
    table.set(share.table, entry);
    const end = entry + share.table.length;
    for (; entry < end; entry += 2) table[entry] = (table[entry] as number) + base;
    base += share.packed.length / 4;
  }
  return { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) };
}
