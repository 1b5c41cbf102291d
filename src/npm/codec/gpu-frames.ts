import { checkLimit, type OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type { FrameOptions, Timing } from "../base/types.js";
import { checkedLevel } from "../frame/options.js";
import { END_BYTES, FrameWriter } from "../frame/writer.js";
import type { CpuModule } from "../modules/cpu-module.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { levelNumber } from "../modules/enums.js";
import type { Compression, FrameProgress, Outcome, ProgressOf, ResidentCodec } from "./codec.js";
import { gpuTiming } from "./gpu-timing.js";

/** Bytes of content of a part of a stream, whose memory is bounded: those of one job. */
const PART_BYTES = 32 * 2 ** 20;
/** Bytes of content per step of the checksum. */
const SUM_BYTES = 2 ** 20;

/** A session that compresses the blocks of a frame on a GPU. */
export class GpuCompression implements Compression {
  readonly #codec: ResidentCodec;
  readonly #cpu: CpuModule;
  readonly #options: Required<FrameOptions>;
  readonly #dictionary: DictionaryModule | undefined;
  readonly #frame: FrameWriter;
  readonly partBytes = PART_BYTES;

  constructor(
    codec: ResidentCodec,
    cpu: CpuModule,
    options: Required<FrameOptions>,
    contentSize: number,
    dictionary: DictionaryModule | undefined,
  ) {
    this.#codec = codec;
    this.#cpu = dictionary ?? cpu;
    this.#options = { ...options, level: checkedLevel(options.level, "fast") };
    this.#dictionary = dictionary;
    this.#frame = new FrameWriter(this.#cpu, options, contentSize);
  }

  get progress(): FrameProgress {
    return this.#frame;
  }

  free(): void {
    this.#frame.free();
  }

  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    const { blocks, timing } = await this.#compress(content, 0, 0, Infinity, job);
    this.#frame.put(blocks, content.length);
    if (isLast) this.#frame.end();
    return { value: this.#frame.take(), timing };
  }

  /** Returns the frame of `content`, of which nothing was pushed. Its blocks are written to their places in the result. */
  async whole(content: Uint8Array, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
    const { blocks, timing } = await this.#compress(content, this.#frame.head, END_BYTES, maxOutputSize, job);
    return { value: this.#frame.endIn(blocks, content.length), timing };
  }

  /** Compresses `content` to blocks on the GPU, in an array with room around them, and meanwhile computes the checksum on the
   * CPU. Throws `OUTPUT_LIMIT` once the frame is longer than `maxOutputSize`. */
  async #compress(
    content: Uint8Array,
    bytesBefore: number,
    bytesAfter: number,
    maxOutputSize: number,
    job: Job,
  ): Promise<{ blocks: Bytes; timing: Timing }> {
    const { blockSize, blockChecksums } = this.#options;
    const { bytesIn, bytesOut } = this.#frame;
    const progressOf: ProgressOf = (pageBytes, blockBytes) => {
      checkLimit(bytesOut + blockBytes, maxOutputSize);
      // The last byte counts as processed when the frame is complete.
      return [bytesIn + Math.min(pageBytes, content.length - 1), bytesOut + blockBytes];
    };
    const level = levelNumber(this.#options.level, "fast");
    // Encodes fill pages as blocks, for the GPU module.
    const encode = (page: Uint8Array): Bytes => this.#cpu.compressBlocks(page, this.#options);
    const call = this.#codec.call(job, progressOf, (gpu, onProgress) => {
      const dictionary = this.#codec.taken(this.#dictionary);
      return gpu.compressBlocks(content, blockSize, level, blockChecksums, bytesBefore, bytesAfter, encode, onProgress, dictionary);
    });
    // Prevents an unhandled rejection: the call may fail while the checksum is computed.
    call.catch(() => undefined);
    await addTo(this.#frame, content, job).catch(async (error: unknown) => {
      // The codec runs one call at a time, so this one must settle first.
      await call.catch(() => undefined);
      throw error;
    });
    const { blocks, timing } = await call;
    return { blocks, timing: gpuTiming(timing) };
  }
}

/** Compresses `bytes`, which must not be empty, with the session `frame`, and frees the session. */
export async function compressFrame(frame: GpuCompression, bytes: Uint8Array, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
  try {
    const outcome = await frame.whole(bytes, maxOutputSize, job);
    checkLimit(outcome.value.length, maxOutputSize);
    return outcome;
  } finally {
    frame.free();
  }
}

/** Returns the content of `bytes`; null if the GPU does not support the frame, or if the frame is corrupt: the CPU codec
 * then reports the error. */
export async function decompressFrame(
  codec: ResidentCodec,
  cpu: CpuModule,
  bytes: Uint8Array,
  { limit, into }: OutputTarget,
  job: Job,
  dictionary: DictionaryModule | undefined,
): Promise<Outcome<Bytes> | null> {
  const most = Math.min(limit, into?.length ?? limit);
  const behind = new SumBehind(cpu, job);
  const progressOf: ProgressOf = (pageBytes, blockBytes) => {
    behind.known(pageBytes);
    return [blockBytes, pageBytes];
  };
  const onContent = (content: Uint8Array, checksum: number | null): void => {
    if (checksum !== null) behind.start(content, checksum);
  };
  try {
    const content = await codec.call(job, progressOf, (gpu, onProgress) =>
      gpu.decompressFrame(bytes, most, into, onContent, onProgress, codec.taken(dictionary)),
    );
    if (!content) return null;
    const { bytes: value, timing } = content;
    behind.known(value.length);
    return (await behind.isRight()) ? { value, timing: gpuTiming(timing) } : null;
  } finally {
    behind.free();
  }
}

/** Computes the checksum of content while it arrives, and compares it with the stored one. */
class SumBehind {
  readonly #cpu: CpuModule;
  readonly #job: Job;
  #sum: ReturnType<CpuModule["contentSum"]> | undefined;
  #content: Uint8Array = new Uint8Array();
  #checksum = 0;
  /** Bytes that have arrived, and bytes that are summed. */
  #known = 0;
  #at = 0;
  /** Resolves when more bytes have arrived, or none will. */
  #wake: () => void = () => undefined;
  #isEnded = false;
  #summing: Promise<void> | undefined;

  constructor(cpu: CpuModule, job: Job) {
    this.#cpu = cpu;
    this.#job = job;
  }

  start(content: Uint8Array, checksum: number): void {
    [this.#content, this.#checksum, this.#sum] = [content, checksum, this.#cpu.contentSum()];
    this.#summing = this.#run();
    // Prevents an unhandled rejection: the job may be aborted before the result is asked for.
    this.#summing.catch(() => undefined);
  }

  /** Tells that the first `nBytes` of content have arrived. They do not change any more: a lost device only repeats them. */
  known(nBytes: number): void {
    this.#known = Math.max(this.#known, nBytes);
    this.#wake();
  }

  /** Returns true if all content agrees with its checksum, or if there is none. */
  async isRight(): Promise<boolean> {
    await this.#summing;
    return this.#sum === undefined || this.#sum.contentChecksum === this.#checksum;
  }

  free(): void {
    this.#isEnded = true;
    this.#wake();
    this.#sum?.free();
  }

  async #run(): Promise<void> {
    while (this.#at < this.#content.length) {
      const end = Math.min(this.#at + SUM_BYTES, this.#known);
      if (this.#isEnded) return;
      if (end > this.#at) {
        this.#sum?.addContent(this.#content.subarray(this.#at, end));
        this.#at = end;
        await this.#job.yieldToEventLoop();
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}

/** Adds content in steps, and yields to the event loop between them. */
async function addTo(sum: { addContent(part: Uint8Array): void }, content: Uint8Array, job: Job): Promise<void> {
  for (let at = 0; at < content.length; at += SUM_BYTES) {
    sum.addContent(content.subarray(at, at + SUM_BYTES));
    await job.yieldToEventLoop();
  }
}
