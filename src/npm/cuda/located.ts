import { PagepressError, toPagepressError } from "../base/errors.js";

/** Calls `work`. Its errors of the compiler get the line of the source with a mark below the column, and `line` and `column`. */
export function located<T>(source: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = toPagepressError(error);
    const [, line, column] = / does not compile: (\d+):(\d+): /.exec(message)?.map(Number) ?? [];
    if (code !== "KERNEL_COMPILE" || line === undefined || column === undefined) throw error;
    const text = source.split(/\r?\n/)[line - 1] ?? "";
    // Tabs stay, so that the mark is below its column.
    const indent = Array.from(text).slice(0, column - 1).join("").replace(/[^\t]/gu, " ");
    throw Object.assign(new PagepressError(code, `${message}\n${text}\n${indent}^`), { line, column });
  }
}
