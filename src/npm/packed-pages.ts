import { join } from "./frame.js";
import type { PackedPages } from "./types.js";

/** Blocks and table of some pages, whose offsets count from the first of these blocks. */
export type Share = Pick<PackedPages, "packed" | "table">;

/** Bytes of pages that kernels know. */
export const PAGE_SIZES: readonly number[] = [4096, 8192, 16384, 32768, 65536];

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
