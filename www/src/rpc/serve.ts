// The worker's end of the calls from the page.
import type { WorkerRequest, Calls, Failure, WorkerReply } from "./messages";

/** The signal of a call, and a function that sends progress to the page. */
export interface Control<Progress> {
  signal: AbortSignal;
  progress(progress: Progress): void;
}

export type Handlers<C extends Calls> = {
  [Name in keyof C]: (
    argument: C[Name]["argument"],
    control: Control<C[Name]["progress"]>,
  ) => Promise<C[Name]["answer"]>;
};

function failureOf(error: unknown): Failure {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return { code: error.code, message: error.message };
  }
  if (error instanceof DOMException) return { code: error.name, message: error.message };
  return { code: "UNEXPECTED", message: error instanceof Error ? error.message : String(error) };
}

/** Handles calls of the page strictly one after the other, so that concurrent work does not distort measurements. */
export function serve<C extends Calls>(handlers: Handlers<C>): void {
  const controllers = new Map<number, AbortController>();
  const reply = (message: WorkerReply): void => self.postMessage(message);

  async function handle(id: number, name: string, argument: unknown): Promise<void> {
    const { signal } = controllers.get(id) as AbortController;
    const control = { signal, progress: (progress: unknown) => reply({ id, progress }) };
    try {
      signal.throwIfAborted();
      reply({ id, answer: await (handlers[name] as Handlers<Calls>[string])(argument, control) });
    } catch (error) {
      reply({ id, failure: failureOf(error) });
    } finally {
      controllers.delete(id);
    }
  }

  let last: Promise<void> = Promise.resolve();
  self.addEventListener("message", ({ data: request }: MessageEvent<WorkerRequest>) => {
    if ("cancel" in request) return controllers.get(request.id)?.abort(new DOMException("cancelled", "AbortError"));
    controllers.set(request.id, new AbortController());
    last = last.then(() => handle(request.id, request.name, request.argument));
  });
}
