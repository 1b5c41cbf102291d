import type { PackedPagesInput } from "../base/types.js";
import { entryOf } from "./packed-pages.js";

/**
 * Returns the number of pages that are equal to an earlier page of the batch, by their blocks: a store that keeps each content once needs no
 * block for these. Blocks of a batch have the same level, so equal pages have equal blocks.
 */
export function countIdenticalPages({ packed, table, pageSize, byteLength }: PackedPagesInput): number {
  /** The blocks of different pages, by hash. */
  const found = new Map<number, { readonly key: string; readonly block: Uint8Array }[]>();
  let count = 0;
  for (let page = 0; 2 * page < table.length; page++) {
    const { start, length } = entryOf(table, page);
    const block = packed.subarray(start, start + length);
    // The length and kind of the block, and the length of the page: the last one can have the fill of others.
    const key = `${table[2 * page + 1]} ${Math.min(pageSize, byteLength - page * pageSize)}`;
    let hash = 0;
    for (const byte of block) hash = Math.imul(hash ^ byte, 0x0100_0193);
    const others = found.get(hash) ?? [];
    if (others.some((other) => other.key === key && block.every((byte, at) => byte === other.block[at]))) count++;
    else found.set(hash, [...others, { key, block }]);
  }
  return count;
}
