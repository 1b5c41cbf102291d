import type { CpuCompression } from "./cpu-codec.js";
import { join } from "./frame.js";
import { framePages } from "./frame-pages.js";
import type { Codec, Outcome } from "./codec.js";
import { Job } from "./job.js";
import type { Bytes } from "./module-memory.js";
import type { Plain } from "./plain.js";
import { cancelled, type Control, driveWithin, NotThisWay } from "./promise-call.js";
import type { PackedPages } from "./types.js";

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
  const job = new Job({}, null);
  try {
    for (let at = 0; at < content.length; at += STEP_BYTES) {
      if (control.isCancelled) throw cancelled();
      sum.add(content.subarray(at, at + STEP_BYTES));
      await job.rest();
    }
    return sum.value();
  } finally {
    sum.free();
  }
}
