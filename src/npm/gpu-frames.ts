import { checkUnchanged, MAX_BYTES } from "./arguments.js";
import type { CpuCompression } from "./cpu-codec.js";
import { END_MARK_BYTES, join, SIZED_HEADER_BYTES, STORED } from "./frame.js";
import { framePages } from "./frame-pages.js";
import type { Codec, Outcome } from "./codec.js";
import { Job } from "./job.js";
import type { Bytes } from "./module-memory.js";
import type { Plain } from "./plain.js";
import { cancelled, type Control, driveWithin, NotThisWay } from "./promise-call.js";
import type { FrameOptions, PackedPages, Timing } from "./types.js";

/** Bytes of content that the module of the CPU takes at a time, so that its memory stays small. A multiple of every page
 * size. */
const STEP_BYTES = 2 ** 20;

/** The blocks of a frame, of pages that a GPU compressed; `frame` adds what else belongs to it. */
export async function putPages(
  frame: CpuCompression,
  content: Uint8Array,
  { packed, table, pageSize }: PackedPages,
  isLast: boolean,
  control: Control,
): Promise<Bytes> {
  const made: Bytes[] = [];
  const job = new Job({}, null);
  for (let at = 0; at === 0 || at < content.length; at += STEP_BYTES) {
    if (control.isCancelled) throw cancelled();
    const part = content.subarray(at, at + STEP_BYTES);
    const [first, end] = [2 * (at / pageSize), 2 * Math.ceil((at + part.length) / pageSize)];
    const entries = table.slice(first, end);
    const isEnd = at + STEP_BYTES >= content.length;
    const start = entries[0] ?? 0;
    const stop = isEnd ? packed.length : 4 * (table[end] as number);
    for (let i = 0; i < entries.length; i += 2) entries[i] = (entries[i] as number) - start;
    const pages = { packed: packed.subarray(4 * start, stop), table: entries, pageSize };
    made.push(frame.put(part, (writer) => writer.pushPages(part, pages, isLast && isEnd)));
    await job.rest();
  }
  return join(made);
}

/** The frame of `bytes`, whose blocks are pages without checksums of their own. What the GPU makes goes straight to where
 * it belongs, and the checksum of the content is made while it works. */
export async function compressFrame(
  codec: Codec,
  plain: Plain,
  bytes: Uint8Array,
  { blockSize, level, contentChecksum }: Required<FrameOptions>,
  partBytes: number,
  control: Control,
): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  const parts: Uint8Array[] = [plain.frameHeader(blockSize, contentChecksum, false, length)];
  const fills = new Fills(plain, blockSize, level);
  const sum = new plain.ContentSum();
  let timing: Timing | undefined;
  let made = SIZED_HEADER_BYTES;
  try {
    for (let at = 0; at < length; at += partBytes) {
      checkUnchanged(bytes, length);
      const part = bytes.subarray(at, at + partBytes);
      const call = driveWithin(control, codec.compressPages(part, blockSize, level));
      // It may fail while the checksum is made.
      call.catch(() => undefined);
      if (contentChecksum) await addTo(sum, part, control);
      const outcome = await call;
      const blocks = blocksOf(outcome.value, part, fills);
      parts.push(blocks);
      made += blocks.length;
      timing = added(timing, outcome.timing);
      // The last byte is done when the frame is whole.
      control.tell(Math.min(at + partBytes, length - 1), made);
    }
    if (!timing) throw new NotThisWay();
    const end = new Uint32Array(contentChecksum ? [0, sum.value()] : [0]);
    return { value: join([...parts, new Uint8Array(end.buffer)]), timing };
  } finally {
    sum.free();
  }
}

/** The times of both. */
function added(before: Timing | undefined, timing: Timing): Timing {
  if (!before) return timing;
  const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  return {
    ...timing,
    uploadNs: sum(before.uploadNs, timing.uploadNs),
    kernelNs: sum(before.kernelNs, timing.kernelNs),
    readbackNs: sum(before.readbackNs, timing.readbackNs),
    totalNs: before.totalNs + timing.totalNs,
  };
}

/** Bits of an entry's second word: above them its kind. */
const LENGTH_BITS = 30;
const KIND_STORED = 1;
const KIND_FILL = 2;

/** Pages as the blocks of a frame, each after its size. */
function blocksOf({ packed, table, pageSize }: PackedPages, content: Uint8Array, fills: Fills): Bytes {
  const nPages = table.length / 2;
  const pageLength = (page: number): number => Math.min(pageSize, content.length - page * pageSize);
  const entry = (page: number): [kind: number, start: number, length: number] => {
    const word = table[2 * page + 1] as number;
    return [word >>> LENGTH_BITS, 4 * (table[2 * page] as number), word & (2 ** LENGTH_BITS - 1)];
  };
  const fill = (page: number, start: number): Uint8Array => fills.of(packed.subarray(start, start + 4), pageLength(page));
  let length = 0;
  for (let page = 0; page < nPages; page += 1) {
    const [kind, start, nBytes] = entry(page);
    length += kind === KIND_FILL ? fill(page, start).length : 4 + nBytes;
  }
  const out = new Uint8Array(length);
  const view = new DataView(out.buffer);
  let at = 0;
  for (let page = 0; page < nPages; page += 1) {
    const [kind, start, nBytes] = entry(page);
    if (kind === KIND_FILL) {
      const block = fill(page, start);
      out.set(block, at);
      at += block.length;
      continue;
    }
    view.setUint32(at, kind === KIND_STORED ? nBytes + STORED : nBytes, true);
    out.set(packed.subarray(start, start + nBytes), at + 4);
    at += 4 + nBytes;
  }
  return out;
}

/** Blocks of pages that are one word all over, each after its size, as the CPU writes them. */
class Fills {
  readonly #plain: Plain;
  readonly #blockSize: number;
  readonly #level: string;
  #made = new Map<string, Uint8Array>();

  constructor(plain: Plain, blockSize: number, level: string) {
    this.#plain = plain;
    this.#blockSize = blockSize;
    this.#level = level;
  }

  of(word: Uint8Array, length: number): Uint8Array {
    const key = `${word.join()} ${length}`;
    const earlier = this.#made.get(key);
    if (earlier) return earlier;
    const page = Uint8Array.from({ length }, (_, i) => word[i % 4] as number);
    const frame = this.#plain.compressSync(page, this.#blockSize, this.#level, false, false, false, MAX_BYTES);
    const block = frame.subarray(SIZED_HEADER_BYTES, frame.length - END_MARK_BYTES);
    this.#made.set(key, block);
    return block;
  }
}

/** The content of `bytes`, if that is one frame of blocks that are pages, and all is well with it. Whatever is odd about
 * it is left to the CPU, so errors are its own. */
export async function decompressFrame(
  codec: Codec,
  plain: Plain,
  bytes: Uint8Array,
  maxOutputSize: number,
  control: Control,
): Promise<Outcome<Bytes>> {
  const pages = framePages(bytes, plain);
  if (!pages || pages.byteLength > maxOutputSize) throw new NotThisWay();
  const packed = new Uint8Array(pages.packedBytes);
  pages.fill(packed);
  const call = codec.decompressPages(packed, pages.table, pages.pageSize, pages.byteLength);
  const outcome = await driveWithin(control, call).catch((error: unknown) => {
    throw (error as { code?: unknown }).code === "CORRUPT_PAGE" ? new NotThisWay() : error;
  });
  if (pages.contentChecksum !== null && pages.contentChecksum !== (await sumOf(outcome.value, plain, control))) {
    throw new NotThisWay();
  }
  return outcome;
}

async function sumOf(content: Uint8Array, plain: Plain, control: Control): Promise<number> {
  const sum = new plain.ContentSum();
  try {
    await addTo(sum, content, control);
    return sum.value();
  } finally {
    sum.free();
  }
}

/** Adds content in steps, between which others get the thread. */
async function addTo(sum: InstanceType<Plain["ContentSum"]>, content: Uint8Array, control: Control): Promise<void> {
  const job = new Job({}, null);
  for (let at = 0; at < content.length; at += STEP_BYTES) {
    if (control.isCancelled) throw cancelled();
    sum.add(content.subarray(at, at + STEP_BYTES));
    await job.rest();
  }
}
