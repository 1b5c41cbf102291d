// The worker's side of calls.
import type { Ask, Calls, Failure, Reply } from "./messages";

/** What a handler may use beside its argument. */
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

/** Answers the calls of a page, one after the other: they share one machine, and times are to be clean. */
export function serve<C extends Calls>(handlers: Handlers<C>): void {
  const controllers = new Map<number, AbortController>();
  const reply = (message: Reply): void => self.postMessage(message);

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
  self.addEventListener("message", ({ data: ask }: MessageEvent<Ask>) => {
    if ("cancel" in ask) return controllers.get(ask.id)?.abort(new DOMException("cancelled", "AbortError"));
    controllers.set(ask.id, new AbortController());
    last = last.then(() => handle(ask.id, ask.name, ask.argument));
  });
}
