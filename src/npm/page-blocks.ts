import { STORED } from "./frame.js";
import type { Bytes } from "./module-memory.js";
import { entryOf, PAGE_KIND } from "./packed-pages.js";
import type { BlockOptions, Plain } from "./plain.js";
import type { PackedPages } from "./types.js";

/** Makes blocks of a frame of pages that a GPU compressed. */
export class PageBlocks {
  readonly #plain: Plain;
  readonly #options: BlockOptions;
  /** Blocks of pages that are one word all over, as the CPU writes them. */
  #fills = new Map<string, Bytes>();

  constructor(plain: Plain, options: BlockOptions) {
    this.#plain = plain;
    this.#options = options;
  }

  /** The blocks, each after its size and before its checksum, if it is to have one. */
  of(pages: PackedPages): Bytes {
    const { packed, table } = pages;
    const around = this.#options.blockChecksums ? 8 : 4;
    const nPages = table.length / 2;
    let length = 0;
    for (let page = 0; page < nPages; page += 1) {
      length += this.#fillOf(pages, page)?.length ?? around + entryOf(table, page).length;
    }
    const out = new Uint8Array(length);
    const view = new DataView(out.buffer);
    let at = 0;
    for (let page = 0; page < nPages; page += 1) {
      const fill = this.#fillOf(pages, page);
      if (fill) {
        out.set(fill, at);
        at += fill.length;
        continue;
      }
      const { kind, start, length } = entryOf(table, page);
      const data = packed.subarray(start, start + length);
      view.setUint32(at, kind === PAGE_KIND.stored ? length + STORED : length, true);
      out.set(data, at + 4);
      if (this.#options.blockChecksums) view.setUint32(at + 4 + length, this.#plain.checksum(data), true);
      at += around + length;
    }
    return out;
  }

  /** The block of a page if that is one word all over. */
  #fillOf({ packed, table, pageSize, byteLength }: PackedPages, page: number): Bytes | undefined {
    const { kind, start } = entryOf(table, page);
    if (kind !== PAGE_KIND.fill) return undefined;
    const length = Math.min(pageSize, byteLength - page * pageSize);
    const word = packed.subarray(start, start + 4);
    const key = `${word.join()} ${length}`;
    const earlier = this.#fills.get(key);
    if (earlier) return earlier;
    const content = Uint8Array.from({ length }, (_, i) => word[i % 4] as number);
    const made = this.#plain.compressBlocks(content, this.#options);
    this.#fills.set(key, made);
    return made;
  }
}
