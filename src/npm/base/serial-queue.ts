/** Runs tasks one after the other, in the order in which they were queued, also after tasks that failed. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `task` after all earlier tasks have settled, and returns its result. */
  run<T>(task: () => T | PromiseLike<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
