import { checkUnchanged } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { Job } from "../base/job.js";
import type { FrameOptions, Timing } from "../base/types.js";
import { PageBlocks } from "../frame/page-blocks.js";
import { framePages } from "../frame/pages.js";
import { FrameWriter } from "../frame/writer.js";
import { ContentSum, type CpuModule } from "../modules/cpu-module.js";
import type { Codec, Compression, Outcome } from "./codec.js";

/** Content of a part of a call, and of a stream, whose memory is to stay small: as much as the module has in flight, and
 * one job of that. */
const PART_BYTES = { call: 128 * 2 ** 20, stream: 32 * 2 ** 20 };
/** Bytes that are summed at a time. */
const SUM_BYTES = 2 ** 20;

/** A frame whose blocks are pages that a GPU compresses. */
export class GpuCompression implements Compression {
  readonly #codec: Codec;
  readonly #options: Required<FrameOptions>;
  readonly #frame: FrameWriter;
  readonly #blocks: PageBlocks;
  readonly partBytes = PART_BYTES.stream;

  constructor(codec: Codec, cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#codec = codec;
    this.#options = options;
    this.#frame = new FrameWriter(cpu, options, contentSize);
    this.#blocks = new PageBlocks(cpu, options);
  }

  get bytesIn(): number {
    return this.#frame.bytesIn;
  }

  get bytesOut(): number {
    return this.#frame.bytesOut;
  }

  free(): void {
    this.#frame.free();
  }

  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    const timing = await this.put(content, job);
    return { value: isLast ? this.end() : this.#frame.take(), timing };
  }

  /** Compresses `content`. Its checksum is made while the GPU works. */
  async put(content: Uint8Array, job: Job): Promise<Timing> {
    const { blockSize, level } = this.#options;
    const [before, made] = [this.bytesIn, this.bytesOut];
    const part = job.part((bytesIn, bytesOut, engine) => job.report(before + bytesIn, made + bytesOut, engine));
    const call = this.#codec.compressPages(content, blockSize, level, part);
    // It may fail while the checksum is made.
    call.catch(() => undefined);
    await addTo(this.#frame, content, job).catch(async (error: unknown) => {
      // The codec takes one call at a time.
      await call.catch(() => undefined);
      throw error;
    });
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

/** The frame of `bytes`, which are not empty; its blocks are compressed by `frame`. */
export async function compressFrame(frame: GpuCompression, bytes: Uint8Array, job: Job): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  try {
    let timing: Timing | undefined;
    for (let at = 0; !timing || at < length; at += PART_BYTES.call) {
      checkUnchanged(bytes, length);
      timing = added(timing, await frame.put(bytes.subarray(at, at + PART_BYTES.call), job));
      // The last byte is done when the frame is whole.
      job.report(Math.min(frame.bytesIn, length - 1), frame.bytesOut, "webgpu");
    }
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

/** The content of `bytes`, if that is one frame of blocks that are pages, and all is well with it; else null, and the CPU
 * says what is wrong. */
export async function decompressFrame(
  codec: Codec,
  cpu: CpuModule,
  bytes: Uint8Array,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes> | null> {
  const pages = framePages(bytes, cpu);
  if (!pages || pages.byteLength > maxOutputSize) return null;
  const { table, pageSize, byteLength, contentChecksum } = pages;
  const packed = new Uint8Array(pages.packedBytes);
  pages.fill(packed);
  // Pages are counted in bytes of content, frames in their own.
  const part = job.part((done, _, engine) => job.report(4 * (table[2 * Math.floor(done / pageSize)] ?? 0), done, engine));
  const { value, timing } = await codec.decompressPages({ packed, table, pageSize, byteLength }, false, part);
  if (value.status.some((code) => code !== 0)) return null;
  if (contentChecksum !== null && contentChecksum !== (await sumOf(value.bytes, cpu, job))) return null;
  return { value: value.bytes, timing };
}

async function sumOf(content: Uint8Array, cpu: CpuModule, job: Job): Promise<number> {
  const sum = new ContentSum(cpu);
  try {
    await addTo(sum, content, job);
    return sum.value();
  } finally {
    sum.free();
  }
}

/** Adds content in steps, between which others get the thread. */
async function addTo(sum: { add(part: Uint8Array): void }, content: Uint8Array, job: Job): Promise<void> {
  for (let at = 0; at < content.length; at += SUM_BYTES) {
    sum.add(content.subarray(at, at + SUM_BYTES));
    await job.rest();
  }
}
