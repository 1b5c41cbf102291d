// Counts what passed and what failed.
import { within } from "./limit.mjs";

/** Collects outcomes, prints each, and the sum at the end. */
export class Report {
  #filter;
  #passed = 0;
  #failed = 0;

  /** `filter`: only cases whose name holds it are run. */
  constructor(filter = "") {
    this.#filter = filter;
  }

  /** Whether a case of this name is run. */
  wants(name) {
    return name.includes(this.#filter);
  }

  /** Notes one outcome; `error` is null or says what is wrong. */
  add(name, error, ms) {
    if (error === null) this.#passed += 1;
    else this.#failed += 1;
    console.log(`${error === null ? "ok    " : "FAILED"} ${name} (${Math.round(ms)} ms)`);
    if (error !== null) console.log(`       ${String(error).replaceAll("\n", "\n       ")}`);
  }

  /** Runs `work` as a case of its own, which fails if it has not ended after `seconds`. Gives null or what it failed with. */
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

  /** Prints the sum; the process ends with code 1 if anything failed, or nothing ran. */
  finish() {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    if (this.#failed > 0 || this.#passed === 0) process.exitCode = 1;
  }
}
