import { PagepressError, type PagepressErrorCode, toPagepressError } from "../base/errors.js";
import { cancelled } from "../base/job.js";
import type { StopSignal } from "../base/stop.js";
import { nextTask } from "../base/task.js";

/** The calls that workers take. `compressBlocks` returns the blocks in the memory of the content: browsers free transferred
 * buffers only at a garbage collection, and those of a long stream would pile up. */
type WorkerCall = "compressBlocks" | "decompressSync" | "compressPages" | "decompressPages";

/** Runs a call in the calling thread. */
export type Perform = (call: WorkerCall, args: unknown[]) => unknown;

/** What a worker is told. */
export type Order =
  | { id: number; call: "start"; module: WebAssembly.Module }
  | { id: number; call: WorkerCall; args: unknown[] };

/** What it answers: a value, or an error. */
export interface Answer {
  id: number;
  value?: unknown;
  error?: { code: PagepressErrorCode; message: string };
}

/** A worker as browsers, Deno and Bun have it; those of Node are made to look alike. */
export interface PoolWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
  /** Node and Bun stay alive for a worker between `ref` and `unref`; others know neither. */
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
  /** Whose it is; none of the order that starts a worker. */
  pool?: Pool;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Member {
  worker: PoolWorker;
  /** Jobs it was given and has not answered, oldest first. */
  jobs: Job[];
}

/** Jobs given to a worker at a time: while it works on one, the next is on its way. */
const DEPTH = 2;
/** A worker that says nothing for so long after its start never will. */
const START_MS = 10_000;
/** Workers with nothing to do for so long are ended: they keep memory. */
const IDLE_MS = 5_000;
/** Workers that no pool uses are ended after this: they keep Deno alive. */
const UNUSED_MS = 500;

/** The workers of all pools that start them in the same way. They are started when there is work for them, and ended when
 * there is none. */
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
  #isHelping = false;

  /** `perform` makes the calls until a worker has started. */
  constructor(start: () => Promise<PoolWorker>, module: () => Promise<WebAssembly.Module>, perform: Perform) {
    this.#start = start;
    this.#module = module;
    this.#perform = perform;
  }

  /** Why no worker can be started; undefined if one can, as far as is known. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Has a worker do a job of `pool`. */
  run(pool: Pool, job: Omit<Job, "order" | "pool">, call: WorkerCall, args: unknown[]): void {
    clearTimeout(this.#idle);
    this.#pools.add(pool);
    this.#waiting.push({ ...job, pool, order: { id: this.#nextId++, call, args } });
    this.#assign();
    void this.#help();
  }

  /** Does what waits here, job by job, while there is no worker: to start the first may take as long as a call. */
  async #help(): Promise<void> {
    if (this.#isHelping) return;
    this.#isHelping = true;
    for (;;) {
      await nextTask();
      const job = this.#members.length > 0 ? undefined : this.#waiting.shift();
      if (!job) break;
      const { order, signal, resolve, reject } = job;
      try {
        if (signal?.aborted) throw cancelled();
        if (order.call !== "start") resolve(this.#perform(order.call, order.args));
      } catch (error) {
        reject(toPagepressError(error));
      }
    }
    this.#isHelping = false;
    this.#rest();
  }

  /** Rejects the jobs of `pool`. Those that workers are at are done for nobody. */
  leave(pool: Pool): void {
    this.#pools.delete(pool);
    const error = new PagepressError("DISPOSED", "the workers were ended");
    const own = this.#waiting.filter((job) => job.pool === pool);
    this.#waiting = this.#waiting.filter((job) => job.pool !== pool);
    for (const job of [...own, ...this.#members.flatMap(({ jobs }) => jobs.filter((job) => job.pool === pool))]) job.reject(error);
    if (this.#pools.size === 0) this.#failure = undefined;
    this.#rest();
  }

  /** Most workers that the pools in use want together. */
  get #size(): number {
    return Math.max(0, ...[...this.#pools].map(({ size }) => size));
  }

  #assign(): void {
    const givenUp = this.#waiting.filter(({ signal }) => signal?.aborted);
    if (givenUp.length > 0) this.#waiting = this.#waiting.filter(({ signal }) => !signal?.aborted);
    for (const job of givenUp) job.reject(cancelled());
    for (let depth = 0; depth < DEPTH; depth += 1) {
      for (const member of this.#members) {
        if (this.#waiting.length === 0) return;
        if (member.jobs.length > depth) continue;
        const at = this.#waiting.findIndex(({ pool }) => this.#mayUse(pool, member));
        const [job] = at < 0 ? [] : this.#waiting.splice(at, 1);
        if (job) this.#give(member, job);
      }
      const isRoom = !this.#failure && this.#members.length + this.#nStarting < this.#size;
      if (isRoom && this.#waiting.length > this.#nStarting) void this.#grow();
    }
  }

  /** Whether `member` works for `pool` already, or that has fewer workers than it may have. */
  #mayUse(pool: Pool | undefined, member: Member): boolean {
    const isAtWork = ({ jobs }: Member): boolean => jobs.some((job) => job.pool === pool);
    return !pool || pool.size >= this.#members.length || isAtWork(member) || this.#members.filter(isAtWork).length < pool.size;
  }

  #give(member: Member, job: Job): void {
    member.jobs.push(job);
    member.worker.ref?.();
    try {
      member.worker.postMessage(job.order, job.transfer);
    } catch (error) {
      member.jobs.pop();
      job.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Starts a worker. If none can be, it is not tried again as long as there are pools. */
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
    this.#assign();
    this.#rest();
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
      this.#give(member, { order, transfer: [], resolve, reject });
    });
    const timer = setTimeout(() => this.#lose(member, "a worker does not answer"), START_MS);
    await started.finally(() => clearTimeout(timer));
    return member;
  }

  #settle(member: Member, { id, value, error }: Answer): void {
    const at = member.jobs.findIndex(({ order }) => order.id === id);
    const [job] = at < 0 ? [] : member.jobs.splice(at, 1);
    if (job?.pool) job.pool.nShared += 1;
    if (error) job?.reject(new PagepressError(error.code, error.message));
    else job?.resolve(value);
    this.#assign();
    if (member.jobs.length === 0) member.worker.unref?.();
    this.#rest();
  }

  #lose(member: Member, message: string): void {
    member.worker.terminate();
    this.#members = this.#members.filter((other) => other !== member);
    for (const job of member.jobs.splice(0)) job.reject(new Error(message));
    this.#assign();
    void this.#help();
  }

  /** Ends all workers after a while without work. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.length > 0 || this.#members.length === 0 || this.#members.some(({ jobs }) => jobs.length > 0)) return;
    const end = (): void => {
      for (const { worker } of this.#members.splice(0)) worker.terminate();
    };
    this.#idle = setTimeout(end, this.#pools.size > 0 ? IDLE_MS : UNUSED_MS);
    // Node would wait for it.
    (this.#idle as { unref?(): void }).unref?.();
  }
}

/** What one compressor may use of the workers. */
export class Pool {
  /** Most workers that work for it at a time. */
  readonly size: number;
  /** Jobs that workers did. */
  nShared = 0;
  readonly #workers: Workers;

  constructor(size: number, workers: Workers) {
    this.size = size;
    this.#workers = workers;
  }

  /** Why no worker can be started; undefined if one can, as far as is known. */
  get failure(): Error | undefined {
    return this.#workers.failure;
  }

  /** Has a worker make `call`, and gives what it gives. No worker gets it once `signal` is aborted. */
  run<T>(call: WorkerCall, args: unknown[], transfer: Transferable[], signal?: StopSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const job = { transfer, signal, resolve: (value: unknown) => resolve(value as T), reject };
      this.#workers.run(this, job, call, args);
    });
  }

  /** Rejects the jobs under way. */
  end(): void {
    this.#workers.leave(this);
  }
}
