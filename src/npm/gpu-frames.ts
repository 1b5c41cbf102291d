import { checkUnchanged } from "./arguments.js";
import { ContentPart } from "./content-part.js";
import { framePages } from "./frame-pages.js";
import { FrameWriter } from "./frame-writer.js";
import type { Codec, Compression, Outcome } from "./codec.js";
import { Job } from "./job.js";
import type { Bytes } from "./module-memory.js";
import { PageBlocks } from "./page-blocks.js";
import type { Plain } from "./plain.js";
import { cancelled, type Control, driveWithin, NotThisWay } from "./promise-call.js";
import type { FrameOptions, Timing } from "./types.js";

/** Bytes that are summed at a time. */
const SUM_BYTES = 2 ** 20;

/** A frame whose blocks are pages that a GPU compresses. */
export class GpuCompression implements Compression {
  readonly #codec: Codec;
  readonly #options: Required<FrameOptions>;
  readonly #frame: FrameWriter;
  readonly #blocks: PageBlocks;
  readonly #held: ContentPart;

  constructor(codec: Codec, plain: Plain, options: Required<FrameOptions>, contentSize: number, held: ContentPart) {
    this.#codec = codec;
    this.#options = options;
    this.#frame = new FrameWriter(plain, options, contentSize);
    this.#blocks = new PageBlocks(plain, options);
    this.#held = held;
  }

  add(content: Uint8Array): number {
    return this.#held.add(content);
  }

  isFull(): boolean {
    return this.#held.isFull();
  }

  bytesIn(): number {
    return this.#frame.bytesIn();
  }

  bytesOut(): number {
    return this.#frame.bytesOut();
  }

  free(): void {
    this.#frame.free();
  }

  /** Compresses what is held, and gives what there is of the frame. */
  async compress(isLast: boolean, control: Control): Promise<Outcome<Bytes>> {
    const timing = await this.put(this.#held.take(), control);
    return { value: isLast ? this.end() : this.#frame.take(), timing };
  }

  /** Compresses `content`. Its checksum is made while the GPU works. */
  async put(content: Uint8Array, control: Control): Promise<Timing> {
    const { blockSize, level } = this.#options;
    const [before, made] = [this.bytesIn(), this.bytesOut()];
    const call = driveWithin(control, this.#codec.compressPages(content, blockSize, level), (bytesIn, bytesOut, engine) =>
      control.tell(before + bytesIn, made + bytesOut, engine),
    );
    // It may fail while the checksum is made.
    call.catch(() => undefined);
    await addTo(this.#frame, content, control);
    const { value, timing } = await call;
    this.#frame.put(this.#blocks.of(value), content.length);
    return timing;
  }

  /** Ends the frame, and gives what was not taken of it. */
  end(): Bytes {
    this.#frame.end();
    return this.#frame.take();
  }
}

/** The frame of `bytes`, whose blocks `frame` has compressed in parts of `partBytes`. */
export async function compressFrame(
  frame: GpuCompression,
  bytes: Uint8Array,
  partBytes: number,
  control: Control,
): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  let timing: Timing | undefined;
  try {
    for (let at = 0; at < length; at += partBytes) {
      checkUnchanged(bytes, length);
      timing = added(timing, await frame.put(bytes.subarray(at, at + partBytes), control));
      // The last byte is done when the frame is whole.
      control.tell(Math.min(frame.bytesIn(), length - 1), frame.bytesOut(), "webgpu");
    }
    if (!timing) throw new NotThisWay();
    return { value: frame.end(), timing };
  } finally {
    frame.free();
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
  // Pages are counted in bytes of content, frames in their own.
  const tell: Control["tell"] = (done, _, engine) =>
    control.tell(4 * (pages.table[2 * Math.floor(done / pages.pageSize)] ?? 0), done, engine);
  const outcome = await driveWithin(control, call, tell).catch((error: unknown) => {
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
async function addTo(sum: { add(part: Uint8Array): void }, content: Uint8Array, control: Control): Promise<void> {
  const job = new Job({}, null);
  for (let at = 0; at < content.length; at += SUM_BYTES) {
    if (control.isCancelled) throw cancelled();
    sum.add(content.subarray(at, at + SUM_BYTES));
    await job.rest();
  }
}
