// The page's end of the calls to a worker.
import type { WorkerRequest, Calls, Failure, WorkerReply } from "./messages";

/** The error of a call, with a stable code. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;

  constructor({ code, message }: Failure) {
    super(message);
    this.code = code;
  }
}

/** Converts any error to a code and a message. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return { code: error.code, message: error.message };
  if (error instanceof DOMException) return { code: error.name, message: error.message };
  return { code: "UNEXPECTED", message: error instanceof Error ? error.message : String(error) };
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  progress(progress: unknown): void;
}

/** Options of every call. */
export interface CallControl<Progress> {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** Sends calls to a worker and resolves them with its answers. The first call starts the worker. */
export class Client<C extends Calls> {
  readonly #start: () => Worker;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #nextId = 0;

  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** Runs one call. Rejects with a `CallError`, or with the reason of the signal as soon as it is aborted. */
  call<Name extends keyof C & string>(
    name: Name,
    argument: C[Name]["argument"],
    { signal, onProgress }: CallControl<C[Name]["progress"]> = {},
  ): Promise<C[Name]["answer"]> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve, reject) => {
      const abort = (): void => {
        if (!this.#waiting.delete(id)) return;
        this.#post({ id, cancel: true });
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      const leave = (): void => signal?.removeEventListener("abort", abort);
      this.#waiting.set(id, {
        resolve: (answer) => (leave(), resolve(answer)),
        reject: (error) => (leave(), reject(error)),
        progress: (progress) => onProgress?.(progress as C[Name]["progress"]),
      });
      this.#post({ id, name, argument });
    });
    return answered as Promise<C[Name]["answer"]>;
  }

  /** Terminates the worker and rejects all pending calls. The next call starts a new worker. */
  end(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#failAll({ code: "ENDED", message: "the worker was ended" });
  }

  #post(request: WorkerRequest): void {
    this.#worker ??= this.#open();
    this.#worker.postMessage(request);
  }

  #open(): Worker {
    const worker = this.#start();
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerReply>) => this.#receive(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#worker === worker) this.#worker = null;
      worker.terminate();
      this.#failAll({ code: "WORKER_LOST", message: event.message || "the worker could not start" });
    });
    return worker;
  }

  #receive(reply: WorkerReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    if ("progress" in reply) return waiting.progress(reply.progress);
    this.#waiting.delete(reply.id);
    if ("failure" in reply) waiting.reject(new CallError(reply.failure));
    else waiting.resolve(reply.answer);
  }

  #failAll(failure: Failure): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiting of all) waiting.reject(new CallError(failure));
  }
}
