// Runs test cases and counts their outcomes.
import { within } from "./limit.mjs";

/** Runs cases, prints each outcome, and the totals at the end. */
export class Report {
  #filter;
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  /** Runs only cases whose name contains `filter`. */
  constructor(filter = "") {
    this.#filter = filter;
  }

  /** Returns true if a case of this name is run. */
  wants(name) {
    return name.includes(this.#filter);
  }

  /** Adds an outcome; `error` is null for a case that passed. */
  add(name, error, ms) {
    if (error === null) this.#passed += 1;
    else this.#failed += 1;
    console.log(`${error === null ? "ok    " : "FAILED"} ${name} (${Math.round(ms)} ms)`);
    if (error !== null) console.log(`       ${String(error).replaceAll("\n", "\n       ")}`);
  }

  /** Runs `work` as a case with a time limit. Returns null, or the error of a failed case. */
  async run(name, work, seconds) {
    if (!this.wants(name)) return null;
    const start = performance.now();
    try {
      await within(work(), seconds);
      this.add(name, null, performance.now() - start);
      return null;
    } catch (error) {
      this.add(name, error?.stack ?? error, performance.now() - start);
      return error;
    }
  }

  /** Adds a case that cannot run on this machine. */
  skip(name, reason) {
    if (!this.wants(name)) return;
    this.#skipped += 1;
    console.log(`skipped ${name}: ${reason}`);
  }

  /** Prints the totals and sets exit code 1 if a case failed, or if there was none. */
  finish() {
    const skipped = this.#skipped > 0 ? `, ${this.#skipped} skipped` : "";
    console.log(`${this.#passed} passed, ${this.#failed} failed${skipped}`);
    if (this.#failed > 0 || this.#passed + this.#skipped === 0) process.exitCode = 1;
  }
}
