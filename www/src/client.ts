// The page's side of the worker.
import type { CallName, Calls, Failure, Reply } from "./messages";

/** A failure of a call, with the package's code. */
export class CallError extends Error {
  readonly code: string;

  constructor({ code, message }: Failure) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: CallError): void;
  stage(stage: string): void;
}

/** Sends calls to the worker and hands its answers back. */
export class Client {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #lost: Failure | null = null;

  constructor() {
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", (event: MessageEvent<Reply>) => this.#receive(event.data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#failAll(event.message || "the worker could not start");
    });
  }

  /** Runs one call; `stage` hears what it is doing. Rejects with a `CallError`. */
  call<Name extends CallName>(
    name: Name,
    argument: Calls[Name]["argument"],
    stage: (stage: string) => void = () => {},
  ): Promise<Calls[Name]["answer"]> {
    if (this.#lost !== null) return Promise.reject(new CallError(this.#lost));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting["resolve"], reject, stage });
      this.#worker.postMessage({ id, name, argument });
    });
  }

  #receive(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return;
    if ("stage" in reply) {
      waiting.stage(reply.stage);
      return;
    }
    this.#waiting.delete(reply.id);
    if ("failure" in reply) waiting.reject(new CallError(reply.failure));
    else waiting.resolve(reply.answer);
  }

  #failAll(message: string): void {
    this.#lost = { code: "WORKER_LOST", message };
    for (const waiting of this.#waiting.values()) waiting.reject(new CallError(this.#lost));
    this.#waiting.clear();
  }
}
