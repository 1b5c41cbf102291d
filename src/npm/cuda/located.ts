import { toPagepressError } from "../base/errors.js";

/** Calls `work`. Its errors of the compiler get `line` and `column`, if they have a place in the source. */
export function located<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const failure = toPagepressError(error);
    const [, line, column] = / does not compile: (\d+):(\d+): /.exec(failure.message)?.map(Number) ?? [];
    throw failure.code === "KERNEL_COMPILE" && line !== undefined ? Object.assign(failure, { line, column }) : error;
  }
}
