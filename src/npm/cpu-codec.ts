import { checkUnchanged } from "./arguments.js";
import { PagepressError } from "./errors.js";
import type { Call, Codec, Compression, Decompression, Outcome } from "./codec.js";
import { ContentPart, wholeBlocks } from "./content-part.js";
import type { Bytes } from "./module-memory.js";
import { joinPages, type Share } from "./packed-pages.js";
import { FrameCompression, FrameDecompression, PageDecompression, type Plain } from "./plain.js";
import { cancelled } from "./promise-call.js";
import type { BackendInfo, CheckedPages, Device, Engine, FrameOptions, PackedPages } from "./types.js";

/** Bytes that are done in one step, in between which others get the thread: a multiple of every page size. */
const STEP_BYTES = 2 ** 20;
/** Content that is done at once where it is copied from place to place: so much stays in a core's cache. */
const CACHED_BYTES = 2 ** 18;

const CHOICE: BackendInfo = {
  engine: "cpu",
  adapter: null,
  software: false,
  reason: "the CPU was asked for",
  rejected: [],
};

/** What work took so far. */
interface Clock {
  milliseconds: number;
}

/** Work in steps, of which a poll does one. Between them it says how far it is: bytes of input, bytes of output. */
type Steps<T> = Generator<[bytesIn: number, bytesOut: number], T, undefined>;

/** A call of the CPU's codec. */
class StepCall<T> implements Call<T> {
  #steps: Steps<T>;
  #clock: Clock;
  #isCancelled = false;
  #told: [number, number] = [0, 0];

  constructor(steps: Steps<T>, clock: Clock = { milliseconds: 0 }) {
    this.#steps = steps;
    this.#clock = clock;
  }

  poll(wake: () => void): Outcome<T> | undefined {
    if (this.#isCancelled) {
      this.#steps.return(undefined as never);
      throw cancelled();
    }
    const start = performance.now();
    const { done, value } = this.#steps.next();
    this.#clock.milliseconds += performance.now() - start;
    if (!done) {
      this.#told = value;
      wake();
      return undefined;
    }
    const totalNs = Math.round(this.#clock.milliseconds * 1e6);
    const none = { uploadNs: null, kernelNs: null, readbackNs: null };
    return { value, timing: { engine: "cpu", reason: CHOICE.reason, ...none, totalNs } };
  }

  cancel(): void {
    this.#isCancelled = true;
  }

  bytesIn(): number {
    return this.#told[0];
  }

  bytesOut(): number {
    return this.#told[1];
  }

  engine(): Engine {
    return "cpu";
  }

  free(): void {
    // There is nothing to free.
  }
}

/** The codec of the CPU, which works where it is called. */
export class CpuCodec implements Codec {
  #module: Plain;

  constructor(module: Plain) {
    this.#module = module;
  }

  backend(): BackendInfo {
    return CHOICE;
  }

  device(): Device | null {
    return null;
  }

  close(): void {
    // The module is there for all.
  }

  free(): void {
    // As above.
  }

  beginCompression(options: Required<FrameOptions>, contentSize: number, isStream: boolean): Compression {
    return new CpuCompression(this.#module, options, contentSize, isStream);
  }

  compressPart(session: Compression, isLast: boolean): Call<Bytes> {
    const own = session as CpuCompression;
    return new StepCall(oneStep(() => own.compress(isLast)), own.clock);
  }

  beginDecompression(maxOutputSize: number, isStream?: boolean): Decompression {
    const groupBytes = isStream ? STEP_BYTES : CACHED_BYTES;
    return new CpuDecompression(new FrameDecompression(this.#module, maxOutputSize, groupBytes));
  }

  decompressPart(session: Decompression): Call<Bytes | null> {
    const own = session as CpuDecompression;
    return new StepCall(oneStep(() => own.decompress()), own.clock);
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    return new StepCall(compressPages(this.#module, bytes, pageSize, level));
  }

  decompressPages(packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number): Call<Bytes> {
    const module = this.#module;
    return new StepCall(
      (function* () {
        const { bytes } = yield* decompressPages(module, packed, table, pageSize, byteLength, true);
        return bytes;
      })(),
    );
  }

  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages> {
    return new StepCall(decompressPages(this.#module, packed, table, pageSize, byteLength, false));
  }
}

function* oneStep<T>(work: () => T): Steps<T> {
  return work();
}

/** What both kinds of sessions have. A part that failed ends its session. */
class Session {
  readonly clock: Clock = { milliseconds: 0 };
  protected done = { bytesIn: 0, bytesOut: 0 };
  #frames: { free(): void };

  constructor(frames: { free(): void }) {
    this.#frames = frames;
  }

  bytesIn(): number {
    return this.done.bytesIn;
  }

  bytesOut(): number {
    return this.done.bytesOut;
  }

  free(): void {
    this.#frames.free();
  }

  protected part<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof PagepressError) this.free();
      throw error;
    }
  }
}

/** A frame that is being compressed, and what is held of its content. */
class CpuCompression extends Session implements Compression {
  #frame: FrameCompression;
  #held: ContentPart;
  #room: (() => Bytes | undefined) | undefined;

  constructor(module: Plain, options: Required<FrameOptions>, contentSize: number, isStream: boolean) {
    const frame = new FrameCompression(module, options, contentSize);
    super(frame);
    this.#frame = frame;
    this.#held = new ContentPart(wholeBlocks(isStream ? STEP_BYTES : CACHED_BYTES, options.blockSize), isStream);
  }

  into(room: () => Bytes | undefined): void {
    this.#room = room;
  }

  add(content: Uint8Array): number {
    return this.#held.add(content);
  }

  isFull(): boolean {
    return this.#held.isFull();
  }

  compress(isLast: boolean): Bytes {
    const content = this.#held.take();
    const made = this.part(() => this.#frame.push(content, isLast, this.#room?.()));
    this.done.bytesIn += content.length;
    this.done.bytesOut += made.length;
    return made;
  }
}

class CpuDecompression extends Session implements Decompression {
  #frames: FrameDecompression;
  #sink: ((content: Uint8Array) => void) | undefined;
  #added = 0;

  constructor(frames: FrameDecompression) {
    super(frames);
    this.#frames = frames;
  }

  add(input: Uint8Array): number {
    const taken = input.subarray(0, STEP_BYTES);
    this.#frames.add(taken);
    this.#added += taken.length;
    return taken.length;
  }

  into(sink: (content: Uint8Array) => void): void {
    this.#sink = sink;
  }

  isFull(): boolean {
    return this.#added > this.done.bytesIn;
  }

  end(): void {
    this.part(() => this.#frames.end());
  }

  decompress(): Bytes | null {
    const sink = this.#sink;
    return this.part(() => {
      if (sink) return this.#pour(sink) ? new Uint8Array() : null;
      const made = this.#frames.advance();
      if (made) this.#count(made);
      return made;
    });
  }

  /** Has a step's content go to `sink`; false if there was nothing to do. */
  #pour(sink: (content: Uint8Array) => void): boolean {
    const { bytesOut } = this.done;
    for (let isAny = false; ; isAny = true) {
      const content = this.#frames.lent();
      if (!content) return isAny;
      sink(content);
      this.#count(content);
      if (this.done.bytesOut - bytesOut >= STEP_BYTES) return true;
    }
  }

  #count(content: Uint8Array): void {
    this.done = { bytesIn: this.#frames.bytesIn(), bytesOut: this.done.bytesOut + content.length };
  }
}

function* compressPages(module: Plain, bytes: Uint8Array, pageSize: number, level: string): Steps<PackedPages> {
  const { length } = bytes;
  const shares: Share[] = [];
  let made = 0;
  for (let at = 0; at === 0 || at < length; at += STEP_BYTES) {
    if (at > 0) yield [at, made];
    checkUnchanged(bytes, length);
    const share = module.compressPages(bytes.subarray(at, at + STEP_BYTES), pageSize, level);
    shares.push(share);
    made += share.packed.length;
  }
  return joinPages(shares, pageSize, length);
}

function* decompressPages(
  module: Plain,
  packed: Uint8Array,
  table: Uint32Array,
  pageSize: number,
  byteLength: number,
  isStrict: boolean,
): Steps<CheckedPages> {
  const pages = new PageDecompression(module, packed, table, pageSize, byteLength);
  try {
    const bytes = new Uint8Array(byteLength);
    const status = new Uint8Array(table.length / 2);
    for (let at = 0; at < byteLength; at += STEP_BYTES) {
      if (at > 0) yield [at, at];
      const made = pages.advance(STEP_BYTES / pageSize, isStrict);
      const length = Math.min(STEP_BYTES, byteLength - at);
      bytes.set(made.subarray(0, length), at);
      status.set(made.subarray(length), at / pageSize);
    }
    return { bytes, status };
  } finally {
    pages.free();
  }
}
