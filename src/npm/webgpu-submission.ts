import type { Host } from "./js-values.js";
import { MOST_PASSES, type OpenDevice, type Timer } from "./webgpu-device.js";
import type { Encoder, GpuBuffer, Pass } from "./webgpu-types.js";

const MAP_READ = 1;
/** Steps of a submission: `src/gpu/webgpu/calls.rs`. */
const LAUNCH = 0;
const COPY = 1;

/** A compiled kernel. */
export interface Kernel {
  readonly pipeline: unknown;
  readonly layout: unknown;
}

/** Submits the steps that lie in the module's memory; gives the nanoseconds of all launches once all is done, -1 if they
 * were not measured. */
export function submit(open: OpenDevice, host: Host, start: number, length: number): Promise<number> {
  const timer = encoded(open, host, start, length, true).submit();
  return timer ? timer() : open.device.queue.onSubmittedWorkDone().then(() => -1);
}

/** The same where nobody asks for an answer. */
export function submitUntimed(open: OpenDevice, host: Host, start: number, length: number): void {
  encoded(open, host, start, length, false).submit();
}

function encoded(open: OpenDevice, host: Host, start: number, length: number, isTimed: boolean): Submission {
  const submission = new Submission(open, host, new Float64Array(host.memory(), start >>> 0, length), isTimed);
  while (submission.isMore()) submission.step();
  return submission;
}

/** Steps that are being encoded. Launches in a row are one pass, which is timed where the device has timestamps. */
class Submission {
  readonly #open: OpenDevice;
  readonly #host: Host;
  readonly #encoder: Encoder;
  readonly #steps: Float64Array;
  readonly #isTimed: boolean;
  #at = 0;
  #pass: Pass | undefined;
  #nPasses = 0;
  #timer: Timer | undefined;

  constructor(open: OpenDevice, host: Host, steps: Float64Array, isTimed: boolean) {
    this.#open = open;
    this.#host = host;
    this.#steps = steps;
    this.#isTimed = isTimed;
    this.#encoder = open.device.createCommandEncoder();
  }

  isMore(): boolean {
    return this.#at < this.#steps.length;
  }

  step(): void {
    const step = this.#next();
    if (step === LAUNCH) return this.#launch();
    if (step !== COPY) return this.#write();
    this.#endPass();
    this.#encoder.copyBufferToBuffer(this.#value(), this.#next(), this.#value(), this.#next(), this.#next());
  }

  /** Gives what reads the times, if they are taken. */
  submit(): (() => Promise<number>) | undefined {
    this.#endPass();
    const { device } = this.#open;
    const timer = this.#nPasses <= MOST_PASSES ? this.#timer : undefined;
    const nBytes = 16 * this.#nPasses;
    if (timer) {
      this.#encoder.resolveQuerySet(timer.queries, 0, 2 * this.#nPasses, timer.resolved, 0);
      this.#encoder.copyBufferToBuffer(timer.resolved, 0, timer.read, 0, nBytes);
    }
    device.queue.submit([this.#encoder.finish()]);
    return timer && (() => readTimes(this.#open, timer, nBytes));
  }

  #next(): number {
    return this.#steps[this.#at++] as number;
  }

  #value<T = GpuBuffer>(): T {
    return this.#host.values.get<T>(this.#next());
  }

  #launch(): void {
    const { pipeline, layout } = this.#value<Kernel>();
    const grid: [number, number, number] = [this.#next(), this.#next(), this.#next()];
    const entries = Array.from({ length: this.#next() }, (_, binding) => {
      return { binding, resource: { buffer: this.#value(), offset: this.#next(), size: this.#next() } };
    });
    this.#pass ??= this.#beginPass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, this.#open.device.createBindGroup({ layout, entries }));
    this.#pass.dispatchWorkgroups(...grid);
  }

  /** Parameters are written before anything is submitted. */
  #write(): void {
    this.#open.device.queue.writeBuffer(this.#value(), 0, this.#host.memory(), this.#next(), this.#next());
  }

  #beginPass(): Pass {
    const first = 2 * this.#nPasses++;
    if (first === 0 && this.#isTimed) this.#timer = this.#open.timer();
    if (!this.#timer || this.#nPasses > MOST_PASSES) return this.#encoder.beginComputePass({});
    const { queries } = this.#timer;
    const times = { querySet: queries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
    return this.#encoder.beginComputePass({ timestampWrites: times });
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}

async function readTimes(open: OpenDevice, timer: Timer, nBytes: number): Promise<number> {
  await timer.read.mapAsync(MAP_READ, 0, nBytes);
  const times = new BigUint64Array(timer.read.getMappedRange(0, nBytes));
  let total = 0n;
  for (let i = 0; i < times.length; i += 2) {
    const [begin, end] = [times[i], times[i + 1]] as [bigint, bigint];
    // A clock that runs backwards measures nothing.
    if (end < begin || total < 0n) total = -1n;
    else total += end - begin;
  }
  timer.read.unmap();
  open.timers.push(timer);
  return Number(total);
}
