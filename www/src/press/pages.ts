// Compresses files as batches of pages and keeps them, so that single pages can be inspected.
import type { PackedPages } from "pagepress";
import type { Control } from "../rpc/serve";
import { PAGE_KINDS, type EngineChoice, type PageDetail, type PageMap } from "./calls";
import { compressorFor } from "./compressors";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bits of the length in a table entry; the kind is in the bits above. */
const LENGTH_BITS = 30;

/** The last batch of each owner, a part of the page. */
const batches = new Map<string, { content: Bytes; pages: PackedPages }>();

/** Compresses a file as pages and returns the kind and size of each. */
export async function mapPages(
  { owner, file, pageSize, choice }: { owner: string; file: Blob; pageSize: number; choice: EngineChoice },
  { signal, progress }: Control<{ bytes: number }>,
): Promise<PageMap> {
  batches.delete(owner);
  const content = new Uint8Array(await file.arrayBuffer());
  const compressor = await compressorFor(choice);
  const pages = await compressor.compressPages(content, {
    pageSize,
    signal,
    onProgress: ({ bytesIn }) => progress({ bytes: bytesIn }),
  });
  batches.set(owner, { content, pages });
  const nPages = pages.table.length / 2;
  const kinds = new Uint8Array(nPages);
  const lengths = new Uint32Array(nPages);
  for (let page = 0; page < nPages; page += 1) {
    const word = pages.table[2 * page + 1] ?? 0;
    kinds[page] = word >>> LENGTH_BITS;
    lengths[page] = word & (2 ** LENGTH_BITS - 1);
  }
  const engine = compressor.lastTiming?.engine ?? compressor.backend.engine;
  return { pageSize, byteLength: content.length, kinds, lengths, packedBytes: pages.packed.length, engine };
}

/** Returns one page of the last batch of `owner`. */
export async function pageDetail({ owner, page }: { owner: string; page: number }): Promise<PageDetail> {
  const batch = batches.get(owner);
  if (!batch) throw new Error("no pages were mapped");
  const { content, pages } = batch;
  const at = 4 * (pages.table[2 * page] ?? 0);
  const word = pages.table[2 * page + 1] ?? 0;
  const length = word & (2 ** LENGTH_BITS - 1);
  return {
    page,
    kind: PAGE_KINDS[word >>> LENGTH_BITS] ?? "lz4",
    content: content.slice(page * pages.pageSize, (page + 1) * pages.pageSize),
    block: pages.packed.slice(at, at + length),
  };
}
