import { checkUnchanged } from "../base/arguments.js";
import { type Bytes, wholeBlocks } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type { BackendInfo, CheckedPages, FrameOptions, PackedPages, PackedPagesInput, Level, Timing } from "../base/types.js";
import { joinPages, type Share } from "../format/packed-pages.js";
import { Content } from "../modules/content.js";
import { type CpuModule, FrameEncoder, PageDecoder } from "../modules/cpu-module.js";
import { Draft } from "../modules/draft.js";
import type { Codec, Compression, Outcome } from "./codec.js";

/** Bytes of pages, and of a stream, that are done in one step: a multiple of every page size. */
const STEP_BYTES = 2 ** 20;

const CHOICE: BackendInfo = {
  engine: "cpu",
  adapter: null,
  software: false,
  reason: "the CPU was asked for",
  rejected: [],
};

/** The timing of a call that took so long on the CPU. */
export function cpuTiming(milliseconds: number, reason = CHOICE.reason): Timing {
  return { engine: "cpu", reason, uploadNs: null, kernelNs: null, readbackNs: null, totalNs: Math.round(milliseconds * 1e6) };
}

/** Times work on the CPU, without what others do meanwhile. */
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

/** The codec of the CPU, which works where it is called. */
export class CpuCodec implements Codec {
  readonly #cpu: CpuModule;

  constructor(cpu: CpuModule) {
    this.#cpu = cpu;
  }

  backend(): BackendInfo {
    return CHOICE;
  }

  device(): null {
    return null;
  }

  resident(): null {
    return null;
  }

  close(): void {
    // The module is shared by all.
  }

  async compress(bytes: Uint8Array, options: Required<FrameOptions>, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
    const { length } = bytes;
    const draft = new Draft(maxOutputSize, length);
    try {
      const clock = await inSteps(this.#cpu.compressInSteps(bytes, options, draft), job, (bytesIn) => {
        job.report(bytesIn, draft.length, "cpu");
        checkUnchanged(bytes, length);
      });
      return clock.outcome(clock.time(() => draft.finish()));
    } finally {
      draft.free();
    }
  }

  async decompress(bytes: Uint8Array, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
    const { length } = bytes;
    const content = new Content(maxOutputSize, bytes);
    const clock = await inSteps(this.#cpu.decompressInSteps(bytes, content, maxOutputSize), job, (bytesIn) => {
      // The last byte is done when the end was found sound.
      if (bytesIn < length) job.report(bytesIn, content.length, "cpu");
      checkUnchanged(bytes, length);
    });
    job.report(length, content.length, "cpu");
    return clock.outcome(clock.time(() => content.finish()));
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number): Promise<Compression> {
    return new CpuCompression(this.#cpu, options, contentSize);
  }

  async compressPages(bytes: Uint8Array, pageSize: number, level: Level, job: Job): Promise<Outcome<PackedPages>> {
    const { length } = bytes;
    const shares: Share[] = [];
    const clock = await inSteps(this.#compressPages(bytes, pageSize, level, shares), job, (bytesIn) => {
      checkUnchanged(bytes, length);
      job.report(bytesIn, shares.reduce((sum, { packed }) => sum + packed.length, 0), "cpu");
    });
    return clock.outcome(clock.time(() => joinPages(shares, pageSize, length)));
  }

  *#compressPages(bytes: Uint8Array, pageSize: number, level: Level, shares: Share[]): Generator<number> {
    const { length } = bytes;
    for (let at = 0; at === 0 || at < length; at += STEP_BYTES) {
      shares.push(this.#cpu.compressPages(bytes.subarray(at, at + STEP_BYTES), pageSize, level));
      yield Math.min(at + STEP_BYTES, length);
    }
  }

  async decompressPages(
    { packed, table, pageSize, byteLength }: PackedPagesInput,
    isStrict: boolean,
    job: Job,
  ): Promise<Outcome<CheckedPages>> {
    const pages = new PageDecoder(this.#cpu, packed, table, pageSize, byteLength);
    try {
      const checked = { bytes: new Uint8Array(byteLength), status: new Uint8Array(table.length / 2) };
      const clock = await inSteps(decompressPages(pages, checked, pageSize, isStrict), job, (done) => job.report(done, done, "cpu"));
      return clock.outcome(checked);
    } finally {
      pages.free();
    }
  }
}

function* decompressPages(pages: PageDecoder, { bytes, status }: CheckedPages, pageSize: number, isStrict: boolean): Generator<number> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    const made = pages.advance(STEP_BYTES / pageSize, isStrict);
    const length = Math.min(STEP_BYTES, bytes.length - at);
    bytes.set(made.subarray(0, length), at);
    status.set(made.subarray(length), at / pageSize);
    yield at + length;
  }
}

/** Takes all `steps`, tells `done` what each gives, and lets others have the thread between them. */
async function inSteps(steps: Generator<number>, job: Job, done: (bytesIn: number) => void): Promise<Clock> {
  const clock = new Clock();
  try {
    for (let step = clock.time(() => steps.next()); !step.done; step = clock.time(() => steps.next())) {
      done(step.value);
      await job.rest();
    }
    return clock;
  } finally {
    steps.return(undefined);
  }
}

/** A frame that is compressed where it is called. */
class CpuCompression implements Compression {
  readonly partBytes: number;
  readonly #frame: FrameEncoder;
  readonly #clock = new Clock();
  bytesIn = 0;
  bytesOut = 0;

  constructor(cpu: CpuModule, options: Required<FrameOptions>, contentSize: number) {
    this.#frame = new FrameEncoder(cpu, options, contentSize < 0 ? undefined : contentSize);
    this.partBytes = wholeBlocks(STEP_BYTES, options.blockSize);
  }

  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    const made = this.#clock.time(() => this.#frame.push(content, isLast));
    this.bytesIn += content.length;
    this.bytesOut += made.length;
    await job.rest();
    return this.#clock.outcome(made);
  }

  free(): void {
    this.#frame.free();
  }
}
