import { bytesOf, checkOptions, checkSize, release } from "../base/arguments.js";
import { Handoff } from "../base/handoff.js";
import { Job } from "../base/job.js";
import { Stop } from "../base/stop.js";
import type { BytesInput, CallOptions, CompressorOptions, FrameOptions } from "../base/types.js";
import { unshared, viewOf } from "../base/views.js";
import { Clock } from "../codec/cpu.js";
import { open } from "../codec/open.js";
import { ContentPart } from "../frame/content-part.js";
import { frameOptions } from "../frame/options.js";
import { FrameDecoder } from "../modules/cpu-module.js";
import { load } from "../modules/load.js";
import { Compressor } from "./compressor.js";
import { names } from "./options.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** What can be written to a stream. It is not changed, and without `transfer` not detached; leave it as it is until its
 * write is done. */
export type StreamInput = BytesInput;

/** What both streams take, beside the engine to open. */
export interface Lz4StreamOptions extends CompressorOptions, CallOptions {
  /** A compressor to work with in place of one of the stream's own. It goes on to be usable, and is not disposed of. */
  compressor?: Compressor;
  /** Detaches and frees the buffer of each chunk when its write is done, so that a long stream leaves less to the
   * collector. Default false. */
  transfer?: boolean;
  /** When `writable` asks its writer to wait. Default 1 MiB of input. */
  writableStrategy?: QueuingStrategy<StreamInput>;
  /** When `readable` waits for its reader. Default 1 MiB of output. */
  readableStrategy?: QueuingStrategy<Bytes>;
}

export interface Lz4CompressionStreamOptions extends Lz4StreamOptions, FrameOptions {
  /** Bytes that will be written, if it is known: goes into the header of the frame. Other content is the error
   * `CONTENT_SIZE_MISMATCH`. */
  contentSize?: number;
}

export interface Lz4DecompressionStreamOptions extends Lz4StreamOptions {
  /** Most bytes to decompress to; more is the error `OUTPUT_LIMIT`. Default: no limit. */
  maxOutputSize?: number;
  /** Bytes that will be written, if it is known, for `onProgress`. */
  inputSize?: number;
}

const HIGH_WATER_BYTES = 2 ** 20;
/** Input that is decompressed at a time, and content that is given at a time if blocks are not larger. */
const STEP_BYTES = 2 ** 20;

/** Makes output of the bytes that are written. */
type Transform = (input: AsyncIterable<Uint8Array>, work: Work) => AsyncGenerator<Bytes>;

/** What does it, and what is told of it. */
interface Work {
  readonly compressor: Compressor;
  readonly job: Job;
}

/** What is common to both streams: shaped like `CompressionStream`, for `pipeThrough`. */
class Lz4Stream {
  /** The output. */
  readonly readable: ReadableStream<Bytes>;
  /** The input. A write is done when what was made of it was taken or waits in `readable`, but for what waits for more to
   * come, or is on its way through workers: a few MiB. */
  readonly writable: WritableStream<StreamInput>;

  /** @internal */
  constructor(options: Lz4StreamOptions, totalBytes: number | null, transform: Transform) {
    const { signal } = options;
    // Whatever ends the stream ends the work that is under way.
    const end = new Stop();
    const job = new Job({ ...options, signal: end }, totalBytes);
    const input = new Handoff<Uint8Array>();
    const output = run(input, job, options, transform);
    const ends: { error(reason: unknown): void }[] = [];
    const abort = (): void => fail(signal?.reason);
    const leave = (): void => signal?.removeEventListener("abort", abort);
    const stop = (reason: unknown): void => {
      leave();
      input.fail(reason);
      end.abort(reason);
      // What it had to say of the failure it has said, or nobody asked.
      output.return(undefined).catch(() => undefined);
    };
    const fail = (reason: unknown): void => {
      stop(reason);
      for (const controller of ends) controller.error(reason);
    };
    this.writable = new WritableStream<StreamInput>(
      {
        start: (controller) => {
          ends.push(controller);
          // `abort` below waits for a write under way, which may wait for workers, or for who reads. Older browsers have no
          // signal here.
          controller.signal?.addEventListener("abort", () => stop(controller.signal.reason));
        },
        write: async (chunk) => {
          try {
            const bytes = bytesOf("chunk", chunk);
            await input.put(unshared(bytes));
            if (options.transfer) release(bytes);
          } catch (error) {
            fail(error);
            throw error;
          }
        },
        close: () => input.put(null),
        abort: fail,
      },
      options.writableStrategy ?? byLength(),
    );
    this.readable = new ReadableStream<Bytes>(
      {
        start: (controller) => void ends.push(controller),
        pull: async (controller) => {
          try {
            const { done, value } = await output.next();
            if (!done) return controller.enqueue(value);
            leave();
            input.finish();
            controller.close();
          } catch (error) {
            fail(error);
          }
        },
        cancel: fail,
      },
      options.readableStrategy ?? byLength(),
    );
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
  }
}

/** Compresses what is written to it to one LZ4 frame, in bounded memory, on the engine that `backend` says. */
export class Lz4CompressionStream extends Lz4Stream {
  constructor(options: Lz4CompressionStreamOptions = {}) {
    checkOptions(options, names.compressionStream);
    const { contentSize } = options;
    if (contentSize !== undefined) checkSize("contentSize", contentSize, Number.MAX_SAFE_INTEGER);
    super(options, contentSize ?? null, (input, work) => compress(input, work, options));
  }
}

/** Decompresses the LZ4 frames that are written to it, in bounded memory: one or many, legacy and skippable ones too. */
export class Lz4DecompressionStream extends Lz4Stream {
  constructor(options: Lz4DecompressionStreamOptions = {}) {
    checkOptions(options, names.decompressionStream);
    const { inputSize, maxOutputSize = Number.MAX_SAFE_INTEGER } = options;
    if (inputSize !== undefined) checkSize("inputSize", inputSize, Number.MAX_SAFE_INTEGER);
    checkSize("maxOutputSize", maxOutputSize, Number.MAX_SAFE_INTEGER);
    super(options, inputSize ?? null, (input, work) => decompress(input, work, maxOutputSize));
  }
}

/** Opens the engine, and gives it up at the end, whatever that is. */
async function* run(
  input: Handoff<Uint8Array>,
  job: Job,
  options: Lz4StreamOptions,
  transform: Transform,
): AsyncGenerator<Bytes, undefined, undefined> {
  let own: Compressor | undefined;
  try {
    job.check();
    const compressor = options.compressor ?? (own = new Compressor(await open(options), options.level ?? "auto"));
    yield* transform(input, { compressor, job });
  } catch (error) {
    throw input.isFailure(error) ? error : job.errorOf(error);
  } finally {
    await own?.dispose();
  }
}

async function* compress(
  input: AsyncIterable<Uint8Array>,
  { compressor, job }: Work,
  options: Lz4CompressionStreamOptions,
): AsyncGenerator<Bytes> {
  const all = frameOptions(options, compressor.level);
  const frame = await compressor.look((codec) => codec.beginCompression(all, options.contentSize ?? -1));
  const held = new ContentPart(frame.partBytes);
  const part = (isLast: boolean): Promise<Bytes> =>
    compressor.run(job, async () => {
      const outcome = await frame.push(held.take(), isLast, job);
      job.report(frame.bytesIn, frame.bytesOut, outcome.timing.engine);
      return outcome;
    });
  try {
    for await (const bytes of input) {
      for (let at = 0; at < bytes.length; ) {
        at += held.add(bytes.subarray(at));
        if (held.isFull()) yield* made(await part(false));
        await job.rest();
      }
    }
    yield* made(await part(true));
  } finally {
    frame.free();
  }
}

/** What a part made: it may be nothing yet. */
function* made(bytes: Bytes): Generator<Bytes> {
  if (bytes.length > 0) yield bytes;
}

/** Streams are decompressed by the CPU where they are: their parts are not worth the way to a GPU or a worker and back. */
async function* decompress(input: AsyncIterable<Uint8Array>, { compressor, job }: Work, maxOutputSize: number): AsyncGenerator<Bytes> {
  const cpu = await load("cpu");
  const frames = new FrameDecoder(cpu, maxOutputSize, STEP_BYTES);
  let bytesOut = 0;
  const part = (): Promise<Bytes> =>
    compressor.run(job, async () => {
      const clock = new Clock();
      const content = clock.time(() => {
        const bytes = new Uint8Array(frames.advance());
        frames.copyInto(bytes);
        return bytes;
      });
      bytesOut += content.length;
      job.report(frames.position(), bytesOut, "cpu");
      return clock.outcome(content);
    });
  async function* parts(): AsyncGenerator<Bytes> {
    for (let bytes = await part(); bytes.length > 0; bytes = await part()) {
      yield bytes;
      await job.rest();
    }
  }
  try {
    for await (const bytes of input) {
      for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        frames.add(bytes.subarray(at, at + STEP_BYTES));
        yield* parts();
      }
    }
    frames.end();
  } finally {
    frames.free();
  }
}

/** Counts bytes; what is no chunk is told by the write. */
function byLength<T extends StreamInput>(): QueuingStrategy<T> {
  return { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => viewOf(chunk)?.length ?? 1 };
}
