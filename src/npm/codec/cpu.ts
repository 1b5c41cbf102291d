import { checkUnchanged, type OutputTarget } from "../base/arguments.js";
import { type Bytes, wholeBlocks } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type { BackendInfo, CheckedPages, FrameOptions, PackedPages, PackedPagesInput, Timing } from "../base/types.js";
import { joinPages, type PagesForm, type Share } from "../format/packed-pages.js";
import { DecodedContent } from "../modules/content.js";
import { type CpuModule, isShortInput, pushTo } from "../modules/cpu-module.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { OutputBuffer } from "../modules/output-buffer.js";
import type * as Cpu from "../wasm/cpu.js";
import { type Codec, type Compression, memoryFor, type Outcome, type PagesTarget } from "./codec.js";

/** Bytes of pages per step: a multiple of every page size, which stays in the CPU's caches, and of which level high takes some milliseconds. */
const STEP_BYTES = 2 ** 18;
/** Bytes of content of a part of a stream. */
const PART_BYTES = 2 ** 20;

const CHOICE: BackendInfo = {
  engine: "cpu",
  adapter: null,
  software: false,
  reason: "the CPU was asked for",
  rejected: [],
};

/** Returns the timing of a call that took `milliseconds` on the CPU. */
export function cpuTiming(milliseconds: number, reason = CHOICE.reason): Timing {
  return { engine: "cpu", reason, uploadNs: null, kernelNs: null, readbackNs: null, totalNs: Math.round(milliseconds * 1e6) };
}

/** Measures the total time of steps on the CPU, without the time between them. */
export class Clock {
  #milliseconds = 0;

  time<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.#milliseconds += performance.now() - start;
    }
  }

  outcome<T>(value: T): Outcome<T> {
    return { value, timing: cpuTiming(this.#milliseconds) };
  }
}

/** Compresses and decompresses on the CPU, in the calling thread. */
export class CpuCodec implements Codec {
  readonly #cpu: CpuModule;

  constructor(cpu: CpuModule) {
    this.#cpu = cpu;
  }

  backend(): BackendInfo {
    return CHOICE;
  }

  async compress(
    bytes: Uint8Array,
    options: Required<FrameOptions>,
    maxOutputSize: number,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<Bytes>> {
    const cpu = dictionary ?? this.#cpu;
    if (isShortInput(bytes)) return outcomeOf(() => cpu.compressSync(bytes, "frame", options, maxOutputSize));
    const { length } = bytes;
    const output = new OutputBuffer(maxOutputSize, length);
    try {
      const clock = await inSteps(cpu.compressInSteps(bytes, options, output), job, (bytesIn) => {
        job.report(bytesIn, output.length, "cpu");
        checkUnchanged(bytes, length);
      });
      return clock.outcome(clock.time(() => output.finish()));
    } finally {
      output.free();
    }
  }

  async decompress(bytes: Uint8Array, target: OutputTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<Bytes>> {
    const cpu = dictionary ?? this.#cpu;
    const atOnce = outcomeOf(() => cpu.decompressAtOnce(bytes, "frame", target));
    if (atOnce.value) return atOnce as Outcome<Bytes>;
    const { length } = bytes;
    const content = new DecodedContent(target, bytes);
    const clock = await inSteps(cpu.decompressInSteps(bytes, content, target.limit), job, (bytesIn) => {
      // The last byte counts as processed when the end of the frame has been checked.
      if (bytesIn < length) job.report(bytesIn, content.length, "cpu");
      checkUnchanged(bytes, length);
    });
    job.report(length, content.length, "cpu");
    return clock.outcome(clock.time(() => content.finish()));
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number, dictionary?: DictionaryModule): Promise<Compression> {
    return new CpuCompression(dictionary ?? this.#cpu, options, contentSize);
  }

  async compressPages(
    bytes: Uint8Array,
    form: PagesForm,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<PackedPages>> {
    const cpu = dictionary ?? this.#cpu;
    const { length } = bytes;
    const shares: Share[] = [];
    const clock = await inSteps(compressPages(cpu, bytes, form, shares), job, (bytesIn) => {
      checkUnchanged(bytes, length);
      job.report(bytesIn, shares.reduce((sum, { packed }) => sum + packed.length, 0), "cpu");
    });
    return clock.outcome(clock.time(() => joinPages(shares, form, length, cpu.dictionaryId)));
  }

  async decompressPages(
    { packed, table, pageSize, byteLength }: PackedPagesInput,
    target: PagesTarget,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<CheckedPages>> {
    const pages = (dictionary ?? this.#cpu).pageDecoder(packed, table, pageSize, byteLength);
    try {
      const bytes = memoryFor(target, byteLength);
      const checked = { bytes, status: new Uint8Array(table.length / 2) };
      const clock = await inSteps(decompressPages(pages, checked, pageSize, target.isStrict), job, (done) => {
        job.report(done, done, "cpu");
        checkUnchanged(bytes, byteLength);
      });
      return clock.outcome(checked);
    } finally {
      pages.free();
    }
  }
}

function* compressPages(cpu: CpuModule, bytes: Uint8Array, { pageSize, level }: PagesForm, shares: Share[]): Generator<number> {
  const { length } = bytes;
  for (let at = 0; at === 0 || at < length; at += STEP_BYTES) {
    shares.push(cpu.compressPages(bytes.subarray(at, at + STEP_BYTES), pageSize, level));
    yield Math.min(at + STEP_BYTES, length);
  }
}

function* decompressPages(pages: Cpu.PageDecoder, { bytes, status }: CheckedPages, pageSize: number, isStrict: boolean): Generator<number> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    const made = pages.advance(STEP_BYTES / pageSize, isStrict);
    const length = Math.min(STEP_BYTES, bytes.length - at);
    bytes.set(made.subarray(0, length), at);
    status.set(made.subarray(length), at / pageSize);
    yield at + length;
  }
}

/** Runs `work`, and returns its result and its time. */
export function outcomeOf<T>(work: () => T): Outcome<T> {
  const clock = new Clock();
  return clock.outcome(clock.time(work));
}

/** Runs `steps` to their end. After each step, calls `onStep` with the bytes of input processed so far, and yields to the
 * event loop. Returns the clock of the steps. */
async function inSteps(steps: Generator<number>, job: Job, onStep: (bytesIn: number) => void): Promise<Clock> {
  const clock = new Clock();
  try {
    for (let step = clock.time(() => steps.next()); !step.done; step = clock.time(() => steps.next())) {
      onStep(step.value);
      await job.yieldToEventLoop();
    }
    return clock;
  } finally {
    steps.return(undefined);
  }
}

/** A session that compresses a frame in the calling thread. */
class CpuCompression implements Compression {
  readonly partBytes: number;
  readonly #frame: Cpu.FrameEncoder;
  readonly #clock = new Clock();
  readonly progress = { bytesIn: 0, bytesOut: 0 };

  constructor(cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#frame = cpu.encoder(options, contentSize < 0 ? undefined : contentSize);
    this.partBytes = wholeBlocks(PART_BYTES, options.blockSize);
  }

  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    const made = this.#clock.time(() => pushTo(this.#frame, content, isLast));
    this.progress.bytesIn += content.length;
    this.progress.bytesOut += made.length;
    await job.yieldToEventLoop();
    return this.#clock.outcome(made);
  }

  free(): void {
    this.#frame.free();
  }
}
