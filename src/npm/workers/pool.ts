import { PagepressError, type PagepressErrorCode, toPagepressError } from "../base/errors.js";
import { cancelled } from "../base/job.js";
import type { StopSignal } from "../base/abort.js";
import { nextTask } from "../base/task.js";
import type { CpuModule } from "../modules/cpu-module.js";
import type { SentDictionary } from "../modules/dictionary-module.js";

/** Names of the calls that workers run. `compressBlocks` returns the blocks in the buffer of the content: browsers free
 * transferred buffers only at a garbage collection, and those of a long stream would accumulate. */
export type WorkerCall = "compressBlocks" | "decompressSync" | "compressPages" | "decompressPages" | "train";

/** Runs a call with a module in the calling thread. */
type Perform = (cpu: CpuModule, call: WorkerCall, args: unknown[]) => unknown;

/** A message to a worker. */
export type Order =
  | { id: number; call: "start"; module: WebAssembly.Module }
  | { id: number; call: WorkerCall; args: unknown[]; dictionary: SentDictionary | undefined };

/** The answer to an order: a value or an error. */
export interface Answer {
  id: number;
  value?: unknown;
  error?: { code: PagepressErrorCode; message: string };
}

/** A worker with the interface of browsers, Deno and Bun; threads of Node are adapted to it. */
export interface PoolWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  /** Keeps Node and Bun running until `unref`; other hosts have neither. */
  ref?(): void;
  unref?(): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
  onerror: ((event: ErrorEvent) => unknown) | null;
  onmessageerror: ((event: MessageEvent) => unknown) | null;
}

interface Job {
  order: Order;
  transfer: Transferable[];
  signal?: StopSignal | undefined;
  /** The pool of the job, and the module for a call in the calling thread; undefined for the order that starts a worker. */
  pool?: Pool;
  cpu?: CpuModule;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Member {
  worker: PoolWorker;
  /** Jobs sent to the worker and not answered yet, oldest first. */
  jobs: Job[];
}

/** Maximum number of unanswered jobs of a worker: while it runs one, the next is transferred. */
const DEPTH = 2;
/** Milliseconds within which a worker must answer after its start; otherwise it has failed. */
const START_MS = 10_000;
/** Milliseconds without work after which workers are terminated, to free their memory. */
const IDLE_MS = 5_000;
/** Milliseconds after which workers that no pool uses are terminated: they keep Deno running. */
const UNUSED_MS = 500;

/** The workers of all pools that start them by the same function. They are started when there is work, and terminated when
 * they are idle. */
export class Workers {
  readonly #start: () => Promise<PoolWorker>;
  readonly #module: () => Promise<WebAssembly.Module>;
  readonly #perform: Perform;
  readonly #pools = new Set<Pool>();
  #members: Member[] = [];
  #nStarting = 0;
  #waiting: Job[] = [];
  #nextId = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #failure: Error | undefined;
  #isRunningInPlace = false;

  /** `perform` runs the calls in the calling thread until a worker has started. */
  constructor(start: () => Promise<PoolWorker>, module: () => Promise<WebAssembly.Module>, perform: Perform) {
    this.#start = start;
    this.#module = module;
    this.#perform = perform;
  }

  /** The error of the last attempt to start a worker, if none runs. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** True if at least `n` workers run. */
  hasStarted(n: number): boolean {
    return this.#members.length >= n;
  }

  /** Queues a job of `pool` for a worker. */
  run(pool: Pool, job: Omit<Job, "order" | "pool"> & { cpu: CpuModule }, call: WorkerCall, args: unknown[]): void {
    clearTimeout(this.#idle);
    this.#pools.add(pool);
    this.#waiting.push({ ...job, pool, order: { id: this.#nextId++, call, args, dictionary: job.cpu.sent } });
    this.#dispatch();
    void this.#runInPlace();
  }

  /** Runs waiting jobs in the calling thread, one by one, while there is no worker: starting the first may take as long as a
   * call. Training takes longer, and waits for workers that are starting. */
  async #runInPlace(): Promise<void> {
    if (this.#isRunningInPlace) return;
    this.#isRunningInPlace = true;
    for (;;) {
      await nextTask();
      const at = this.#waiting.findIndex(({ order }) => order.call !== "train" || this.#nStarting === 0);
      const job = this.#members.length > 0 || at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
      if (!job) break;
      const { order, cpu, signal, resolve, reject } = job;
      try {
        if (signal?.aborted) throw cancelled();
        if (cpu && order.call !== "start") resolve(this.#perform(cpu, order.call, order.args));
      } catch (error) {
        reject(toPagepressError(error));
      }
    }
    this.#isRunningInPlace = false;
    this.#terminateWhenIdle();
  }

  /** Removes `pool` and rejects its jobs. The results of those that workers are running are dropped; a worker that trains for this pool alone is
   * terminated, since training takes seconds. */
  leave(pool: Pool): void {
    this.#pools.delete(pool);
    const error = new PagepressError("DISPOSED", "the workers were ended");
    const own = this.#waiting.filter((job) => job.pool === pool);
    this.#waiting = this.#waiting.filter((job) => job.pool !== pool);
    for (const job of [...own, ...this.#members.flatMap(({ jobs }) => jobs.filter((job) => job.pool === pool))]) job.reject(error);
    if (this.#pools.size === 0) this.#failure = undefined;
    const trainsInVain = ({ jobs }: Member): boolean => jobs[0]?.order.call === "train" && jobs.every((job) => job.pool === pool);
    for (const member of this.#members.filter(trainsInVain)) this.#lose(member, "its training was ended");
    this.#terminateWhenIdle();
  }

  /** The maximum size of all pools in use. */
  get #size(): number {
    return Math.max(0, ...[...this.#pools].map(({ size }) => size));
  }

  #dispatch(): void {
    const aborted = this.#waiting.filter(({ signal }) => signal?.aborted);
    if (aborted.length > 0) this.#waiting = this.#waiting.filter(({ signal }) => !signal?.aborted);
    for (const job of aborted) job.reject(cancelled());
    for (let depth = 0; depth < DEPTH; depth += 1) {
      for (const member of this.#members) {
        if (this.#waiting.length === 0) return;
        if (member.jobs.length > depth) continue;
        const at = this.#waiting.findIndex(({ pool }) => this.#mayUse(pool, member));
        const [job] = at < 0 ? [] : this.#waiting.splice(at, 1);
        if (job) this.#send(member, job);
      }
      const mayGrow = !this.#failure && this.#members.length + this.#nStarting < this.#size;
      if (mayGrow && this.#waiting.length > this.#nStarting) void this.#grow();
    }
  }

  /** Returns true if `member` already works for `pool`, or if `pool` may use another worker. */
  #mayUse(pool: Pool | undefined, member: Member): boolean {
    const isAtWork = ({ jobs }: Member): boolean => jobs.some((job) => job.pool === pool);
    return !pool || pool.size >= this.#members.length || isAtWork(member) || this.#members.filter(isAtWork).length < pool.size;
  }

  #send(member: Member, job: Job): void {
    member.jobs.push(job);
    member.worker.ref?.();
    try {
      member.worker.postMessage(job.order, job.transfer);
    } catch (error) {
      member.jobs.pop();
      job.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Starts a worker. If the first one cannot be started, there is no other attempt as long as there are pools. */
  async #grow(): Promise<void> {
    this.#nStarting += 1;
    try {
      const member = await this.#enlist(await this.#module());
      this.#members.push(member);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      if (this.#members.length === 0) this.#failure = failure;
    } finally {
      this.#nStarting -= 1;
    }
    this.#dispatch();
    void this.#runInPlace();
  }

  async #enlist(module: WebAssembly.Module): Promise<Member> {
    const member: Member = { worker: await this.#start(), jobs: [] };
    const { worker } = member;
    worker.onmessage = ({ data }) => this.#settle(member, data as Answer);
    worker.onerror = (event) => {
      (event as Partial<Event>).preventDefault?.();
      this.#lose(member, event.message || "a worker does not start");
    };
    worker.onmessageerror = () => this.#lose(member, "a worker was not understood");
    const started = new Promise<unknown>((resolve, reject) => {
      const order: Order = { id: this.#nextId++, call: "start", module };
      this.#send(member, { order, transfer: [], resolve, reject });
    });
    const timer = setTimeout(() => this.#lose(member, "a worker does not answer"), START_MS);
    await started.finally(() => clearTimeout(timer));
    return member;
  }

  #settle(member: Member, { id, value, error }: Answer): void {
    const at = member.jobs.findIndex(({ order }) => order.id === id);
    const [job] = at < 0 ? [] : member.jobs.splice(at, 1);
    if (job?.pool) job.pool.nCompleted += 1;
    if (error) job?.reject(new PagepressError(error.code, error.message));
    else job?.resolve(value);
    this.#dispatch();
    if (member.jobs.length === 0) member.worker.unref?.();
    this.#terminateWhenIdle();
  }

  #lose(member: Member, message: string): void {
    member.worker.terminate();
    this.#members = this.#members.filter((other) => other !== member);
    for (const job of member.jobs.splice(0)) job.reject(new Error(message));
    this.#dispatch();
    void this.#runInPlace();
  }

  /** Terminates all workers after a period without work. */
  #terminateWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.length > 0 || this.#members.length === 0 || this.#members.some(({ jobs }) => jobs.length > 0)) return;
    const end = (): void => {
      for (const { worker } of this.#members.splice(0)) worker.terminate();
    };
    this.#idle = setTimeout(end, this.#pools.size > 0 ? IDLE_MS : UNUSED_MS);
    // Node would wait for the timer.
    (this.#idle as { unref?(): void }).unref?.();
  }
}

/** The workers of one compressor. */
export class Pool {
  /** Maximum number of workers that work for this pool at a time. */
  readonly size: number;
  /** Number of jobs that workers have completed. */
  nCompleted = 0;
  readonly #workers: Workers;

  constructor(size: number, workers: Workers) {
    this.size = size;
    this.#workers = workers;
  }

  /** The error of the last attempt to start a worker, if none runs. */
  get failure(): Error | undefined {
    return this.#workers.failure;
  }

  /** True if all workers of the pool run. */
  get isReady(): boolean {
    return this.#workers.hasStarted(this.size);
  }

  /** Runs `call` on a worker, with its copy of the module `cpu`, and returns its result. A call whose `signal` is aborted in the queue does not run, and
   * rejects with `CANCELLED`. */
  run<T>(cpu: CpuModule, call: WorkerCall, args: unknown[], transfer: Transferable[], signal?: StopSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const job = { cpu, transfer, signal, resolve: (value: unknown) => resolve(value as T), reject };
      this.#workers.run(this, job, call, args);
    });
  }

  /** Rejects the queued and the running jobs. */
  end(): void {
    this.#workers.leave(this);
  }
}
