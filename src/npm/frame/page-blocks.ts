import type { Bytes } from "../base/bytes.js";
import type { PackedPages } from "../base/types.js";
import { STORED } from "../format/frame-header.js";
import { entryOf, PAGE_KIND } from "../format/packed-pages.js";
import type { BlockOptions, CpuModule } from "../modules/cpu-module.js";

/** Fill blocks that are kept from one batch of pages to the next. */
const MOST_FILLS = 1024;

/** Makes blocks of a frame of pages that a GPU compressed. */
export class PageBlocks {
  readonly #cpu: CpuModule;
  readonly #options: BlockOptions;
  /** The CPU's blocks of fill pages, by word and length. */
  #fills = new Map<string, Bytes>();

  constructor(cpu: CpuModule, options: BlockOptions) {
    this.#cpu = cpu;
    this.#options = options;
  }

  /** The blocks of all pages, each after its size and before its checksum, if it is to have one. */
  of(pages: PackedPages): Bytes {
    const { packed, table } = pages;
    const around = this.#options.blockChecksums ? 8 : 4;
    const nPages = table.length / 2;
    // Content whose pages are all filled with different words must not pile up here.
    if (this.#fills.size > MOST_FILLS) this.#fills.clear();
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
      if (this.#options.blockChecksums) view.setUint32(at + 4 + length, this.#cpu.checksum(data), true);
      at += around + length;
    }
    return out;
  }

  /** The block of a page if that is one word all over. */
  #fillOf({ packed, table, pageSize, byteLength }: PackedPages, page: number): Bytes | undefined {
    const { kind, start, length } = entryOf(table, page);
    if (kind !== PAGE_KIND.fill) return undefined;
    const pageBytes = Math.min(pageSize, byteLength - page * pageSize);
    const word = packed.subarray(start, start + length);
    const key = `${word.join()} ${pageBytes}`;
    const earlier = this.#fills.get(key);
    if (earlier) return earlier;
    const made = this.#cpu.compressBlocks(this.#cpu.decompressPage(kind, word, pageBytes, pageSize), this.#options);
    this.#fills.set(key, made);
    return made;
  }
}
