// Reads the output of test runners: Cargo, wasm-bindgen-test, pytest and those of this repository.

/** Lines of a failure in the summary, and of all failures of a step. */
const LINES_OF_FAILURE = 6;
const LINES_OF_STEP = 40;

const withoutColours = (output) => output.replace(/\u001b\[[0-9;]*m/g, "");

/** Returns the sums `{passed, failed, skipped}` of the test counts in the output of a step, or null if there are none. */
export function countTests(output) {
  const pattern = /^(?:test result: .*?\. )?(\d+) passed[;,] (\d+) failed(?:[;,] (\d+) (?:ignored|skipped))?/gm;
  const found = [...withoutColours(output).matchAll(pattern)];
  if (found.length === 0) return null;
  const sum = (column) => found.reduce((total, match) => total + Number(match[column] ?? 0), 0);
  return { passed: sum(1), failed: sum(2), skipped: sum(3) };
}

/** Patterns of the first line of a failure, the surest first. */
const PATTERNS = [/\bFAIL(?:ED)?\b|\bpanicked at\b|^not ok\b/, /^error\b|\b\w*Error: /];

/**
 * Returns the lines that tell which tests of a failed step failed and why: each line that reports a failure, with a few
 * that follow it. If there is none, lines that report errors; if there is none either, the last lines of the output.
 */
export function failureLines(output) {
  const lines = withoutColours(output).trimEnd().split("\n");
  const found = PATTERNS.map((pattern) => linesAfter(lines, pattern)).find((some) => some.length > 0);
  const shown = found ?? lines.slice(-LINES_OF_STEP);
  const rest = shown.length - LINES_OF_STEP;
  return rest > 0 ? [...shown.slice(0, LINES_OF_STEP), `(and ${rest} lines)`] : shown;
}

/** Returns the lines that match, each with the lines that follow it up to the next test that passed. */
function linesAfter(lines, pattern) {
  const chosen = new Set();
  lines.forEach((line, i) => {
    for (let next = i; pattern.test(line) && next < Math.min(i + LINES_OF_FAILURE, lines.length); next += 1) {
      if (next > i && /^(?:ok|test .* ok)\b/.test(lines[next])) break;
      chosen.add(next);
    }
  });
  return [...chosen].map((i) => lines[i]);
}
