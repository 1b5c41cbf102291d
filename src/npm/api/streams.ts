import { bytesOf, checkOptions, checkSize, release } from "../base/arguments.js";
import { Job } from "../base/job.js";
import { RendezvousChannel } from "../base/rendezvous.js";
import { LightAbortController } from "../base/abort.js";
import { unshared, viewOf } from "../base/views.js";
import { Clock } from "../codec/cpu.js";
import { open } from "../codec/open.js";
import { frameOptions } from "../frame/options.js";
import { PartBuffer } from "../frame/part-buffer.js";
import { moduleWith } from "../modules/dictionaries.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { load } from "../modules/load.js";
import { Compressor } from "./compressor.js";
import {
  compressionNames, decompressionNames,
  type Lz4CompressionStreamOptions, type Lz4DecompressionStreamOptions, type Lz4StreamOptions, type StreamInput,
} from "./stream-options.js";

type Bytes = Uint8Array<ArrayBuffer>;

const HIGH_WATER_BYTES = 2 ** 20;
/** Bytes of input that are decompressed at a time, and maximum bytes of an output chunk unless blocks are larger. */
const STEP_BYTES = 2 ** 20;

type Input = AsyncIterable<Uint8Array>;

/** Transforms the input, and yields the output. */
type Transform = (input: Input, compressor: Compressor, job: Job) => AsyncGenerator<Bytes>;

/** Base class of both streams. It has the shape of `CompressionStream`, for `pipeThrough`. */
class Lz4Stream {
  /** The output. */
  readonly readable: ReadableStream<Bytes>;
  /** The input. A write resolves when its output has been read or is queued in `readable`, except for a few MiB that wait
   * for more input or are being processed by workers. */
  readonly writable: WritableStream<StreamInput>;

  /** @internal */
  constructor(options: Lz4StreamOptions, totalBytes: number | null, transform: Transform) {
    const { signal, transfer = false } = options;
    // Stops the work when either side of the stream ends.
    const end = new LightAbortController();
    const job = new Job({ ...options, signal: end }, totalBytes);
    const input = new RendezvousChannel<Uint8Array>();
    const output = run(input, job, options, transform);
    const sides: { error(reason: unknown): void }[] = [];
    const abort = (): void => fail(signal?.reason);
    const stop = (reason: unknown): void => {
      signal?.removeEventListener("abort", abort);
      input.fail(reason);
      end.abort(reason);
      // Its error has been reported already, or no side is left to report it to.
      output.return(undefined).catch(() => undefined);
    };
    const fail = (reason: unknown): void => {
      stop(reason);
      for (const side of sides) side.error(reason);
    };
    this.writable = new WritableStream<StreamInput>(
      {
        start: (controller) => {
          sides.push(controller);
          // `abort` below is called only after the current write, which may wait for workers or a reader. Older browsers
          // have no signal here.
          controller.signal?.addEventListener("abort", () => stop(controller.signal.reason));
        },
        write: async (chunk) => {
          try {
            const bytes = bytesOf("chunk", chunk);
            await input.put(unshared(bytes));
            if (transfer) release(bytes);
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
        start: (controller) => void sides.push(controller),
        pull: async (controller) => {
          try {
            const { done, value } = await output.next();
            if (!done) return controller.enqueue(value);
            signal?.removeEventListener("abort", abort);
            input.accept();
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

/** Compresses the bytes that are written to it to one LZ4 frame, in bounded memory, on the engine that `backend` selects. */
export class Lz4CompressionStream extends Lz4Stream {
  constructor(options: Lz4CompressionStreamOptions = {}) {
    checkOptions(options, compressionNames);
    const { contentSize } = options;
    if (contentSize !== undefined) checkSize("contentSize", contentSize);
    const dictionary = moduleWith(options);
    super(options, contentSize ?? null, (input, compressor, job) => compress(input, compressor, job, options, dictionary));
  }
}

/** Decompresses the LZ4 frames written to it, in bounded memory: one or many, including legacy and skippable frames. */
export class Lz4DecompressionStream extends Lz4Stream {
  constructor(options: Lz4DecompressionStreamOptions = {}) {
    checkOptions(options, decompressionNames);
    const { inputSize, maxOutputSize = Number.MAX_SAFE_INTEGER } = options;
    if (inputSize !== undefined) checkSize("inputSize", inputSize);
    checkSize("maxOutputSize", maxOutputSize);
    const dictionary = moduleWith(options);
    super(options, inputSize ?? null, (input, compressor, job) => decompress(input, compressor, job, maxOutputSize, dictionary));
  }
}

/** Yields the transformed input. Opens an engine unless the options have a compressor, and disposes of it at the end. */
async function* run(
  input: RendezvousChannel<Uint8Array>,
  job: Job,
  options: Lz4StreamOptions,
  transform: Transform,
): AsyncGenerator<Bytes, undefined, undefined> {
  let own: Compressor | undefined;
  try {
    job.check();
    yield* transform(input, options.compressor ?? (own = new Compressor(await open(options), options)), job);
  } catch (error) {
    throw input.isFailure(error) ? error : job.errorOf(error);
  } finally {
    await own?.dispose();
  }
}

async function* compress(
  input: Input,
  compressor: Compressor,
  job: Job,
  options: Lz4CompressionStreamOptions,
  dictionary: DictionaryModule | undefined,
): AsyncGenerator<Bytes> {
  const all = frameOptions(options, compressor.levelOf(options));
  const frame = await compressor.look((codec) => codec.beginCompression(all, options.contentSize ?? -1, dictionary));
  const content = new PartBuffer(frame.partBytes);
  const push = (isLast: boolean): Promise<Bytes> =>
    compressor.run(job, async () => {
      const outcome = await frame.push(content.take(), isLast, job);
      job.report(frame.progress.bytesIn, frame.progress.bytesOut, outcome.timing.engine);
      return outcome;
    });
  try {
    for await (const bytes of input) {
      for (let at = 0; at < bytes.length; ) {
        at += content.add(bytes.subarray(at));
        if (content.isFull()) yield* unlessEmpty(await push(false));
        await job.yieldToEventLoop();
      }
    }
    yield* unlessEmpty(await push(true));
  } finally {
    frame.free();
  }
}

function* unlessEmpty(bytes: Bytes): Generator<Bytes> {
  if (bytes.length > 0) yield bytes;
}

/** Decompresses on the CPU in the calling thread: the parts of a stream are too small for a transfer to a GPU or a worker to
 * pay off. */
async function* decompress(
  input: Input,
  compressor: Compressor,
  job: Job,
  maxOutputSize: number,
  dictionary: DictionaryModule | undefined,
): AsyncGenerator<Bytes> {
  const frames = (dictionary ?? (await load("cpu"))).decoder(maxOutputSize, STEP_BYTES);
  let bytesOut = 0;
  const advance = (): Promise<Bytes> =>
    compressor.run(job, async () => {
      const clock = new Clock();
      const content = clock.time(() => {
        const bytes = new Uint8Array(frames.advance());
        frames.copyInto(bytes);
        return bytes;
      });
      bytesOut += content.length;
      job.report(frames.position, bytesOut, "cpu");
      return clock.outcome(content);
    });
  try {
    for await (const bytes of input) {
      for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        frames.add(bytes.subarray(at, at + STEP_BYTES));
        for (let content = await advance(); content.length > 0; content = await advance()) {
          yield content;
          await job.yieldToEventLoop();
        }
      }
    }
    frames.end();
  } finally {
    frames.free();
  }
}

/** Returns a strategy that counts bytes. A chunk of another type counts as one; its write fails. */
function byLength<T extends StreamInput>(): QueuingStrategy<T> {
  return { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => viewOf(chunk)?.length ?? 1 };
}
