import { checkUnchanged, type OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type { FrameOptions, Timing } from "../base/types.js";
import { checkedLevel } from "../frame/options.js";
import { FrameWriter } from "../frame/writer.js";
import { checkLimit } from "../modules/content.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { levelNumber } from "../modules/enums.js";
import type { Compression, FrameProgress, Outcome, ProgressOf, ResidentCodec } from "./codec.js";
import { gpuTiming } from "./gpu-timing.js";

/** Bytes of content of a part. For a call, as many as the module has in flight; for a stream, whose memory is bounded, those
 * of one job. */
const PART_BYTES = { call: 128 * 2 ** 20, stream: 32 * 2 ** 20 };
/** Bytes of content per step of the checksum. */
const SUM_BYTES = 2 ** 20;

/** A session that compresses the blocks of a frame on a GPU. */
export class GpuCompression implements Compression {
  readonly #codec: ResidentCodec;
  readonly #cpu: CpuModule;
  readonly #options: Required<FrameOptions>;
  readonly #frame: FrameWriter;
  readonly partBytes = PART_BYTES.stream;

  constructor(codec: ResidentCodec, cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#codec = codec;
    this.#cpu = cpu;
    this.#options = { ...options, level: checkedLevel(options.level, "fast") };
    this.#frame = new FrameWriter(cpu, options, contentSize);
  }

  get progress(): FrameProgress {
    return this.#frame;
  }

  free(): void {
    this.#frame.free();
  }

  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    const timing = await this.put(content, job);
    return { value: isLast ? this.end() : this.#frame.take(), timing };
  }

  /** Compresses `content` on the GPU, and meanwhile computes its checksum on the CPU. */
  async put(content: Uint8Array, job: Job): Promise<Timing> {
    const { blockSize, blockChecksums } = this.#options;
    const { bytesIn, bytesOut } = this.#frame;
    const progressOf: ProgressOf = (pageBytes, blockBytes) => [bytesIn + Math.min(pageBytes, content.length - 1), bytesOut + blockBytes];
    const level = levelNumber(this.#options.level, "fast");
    // Encodes fill pages as blocks, for the GPU module.
    const encode = (page: Uint8Array): Bytes => this.#cpu.compressBlocks(page, this.#options);
    const call = this.#codec.call(job, progressOf, (gpu, onProgress) =>
      gpu.compressBlocks(content, blockSize, level, blockChecksums, encode, onProgress),
    );
    // Prevents an unhandled rejection: the call may fail while the checksum is computed.
    call.catch(() => undefined);
    await addTo(this.#frame, content, job).catch(async (error: unknown) => {
      // The codec runs one call at a time, so this one must settle first.
      await call.catch(() => undefined);
      throw error;
    });
    const { blocks, timing } = await call;
    this.#frame.put(blocks, content.length);
    return gpuTiming(timing);
  }

  /** Ends the frame, and returns its remaining bytes. */
  end(): Bytes {
    this.#frame.end();
    return this.#frame.take();
  }
}

/** Compresses `bytes`, which must not be empty, with the session `frame`, and frees the session. Stops with `OUTPUT_LIMIT`
 * after the part that exceeds `maxOutputSize`. */
export async function compressFrame(frame: GpuCompression, bytes: Uint8Array, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  try {
    let timing: Timing | undefined;
    for (let at = 0; !timing || at < length; at += PART_BYTES.call) {
      checkUnchanged(bytes, length);
      timing = added(timing, await frame.put(bytes.subarray(at, at + PART_BYTES.call), job));
      const { bytesIn, bytesOut } = frame.progress;
      checkLimit(bytesOut, maxOutputSize);
      // The last byte counts as processed when the frame is complete.
      job.report(Math.min(bytesIn, length - 1), bytesOut, "webgpu");
    }
    return { value: frame.end(), timing };
  } finally {
    frame.free();
  }
}

/** Returns `timing` with the sums of the times of both. */
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

/** Returns the content of `bytes`; null if the GPU does not support the frame, or if the frame is corrupt: the CPU codec
 * then reports the error. */
export async function decompressFrame(
  codec: ResidentCodec,
  cpu: CpuModule,
  bytes: Uint8Array,
  { limit, into }: OutputTarget,
  job: Job,
): Promise<Outcome<Bytes> | null> {
  const most = Math.min(limit, into?.length ?? limit);
  const progressOf: ProgressOf = (pageBytes, blockBytes) => [blockBytes, pageBytes];
  const content = await codec.call(job, progressOf, (gpu, onProgress) => gpu.decompressFrame(bytes, most, into, onProgress));
  if (!content) return null;
  const { bytes: value, contentChecksum, timing } = content;
  if (contentChecksum !== null && contentChecksum !== (await sumOf(value, cpu, job))) return null;
  return { value, timing: gpuTiming(timing) };
}

async function sumOf(content: Uint8Array, cpu: CpuModule, job: Job): Promise<number> {
  const sum = cpu.contentSum();
  try {
    await addTo(sum, content, job);
    return sum.contentChecksum;
  } finally {
    sum.free();
  }
}

/** Adds content in steps, and yields to the event loop between them. */
async function addTo(sum: { addContent(part: Uint8Array): void }, content: Uint8Array, job: Job): Promise<void> {
  for (let at = 0; at < content.length; at += SUM_BYTES) {
    sum.addContent(content.subarray(at, at + SUM_BYTES));
    await job.yieldToEventLoop();
  }
}
