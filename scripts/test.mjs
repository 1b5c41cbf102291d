// `npm test`: installs missing dependencies, runs all steps and prints a summary. Fails if a step fails. Those of native
// code run beside those of the package and WebAssembly, each with its output printed when it ends.
//
// `npm test -- native browser package adapters bindings page supply` runs only the groups named; lints, release, matrix, machines, miri,
// sanitizers, emulated, compilers, compilers-emulated, swiftshader, soak and fuzz run only by their names.
import { countTests, failureLines } from "./output.mjs";
import { exitWith, Remedy, run, skippedCode } from "./process.mjs";
import { setup } from "./setup.mjs";
import { choose, groups, longGroups } from "./steps.mjs";

/**
 * Runs a step. A step that reports failed tests fails even with exit code 0. Its output is forwarded while it runs, or, if
 * `isQuiet`, printed as a whole when it ends.
 *
 * Resolves to the step's result, with `outcome` "pass", "FAIL" or "skip", with `tests`, the numbers of passed, failed and
 * skipped tests, and with `failures`, lines about those that failed. A step that reports no numbers counts as one test.
 */
async function runStep({ group, name, command: [program, args], env, minutes }, isQuiet) {
  const title = `=== ${group}: ${name}\n$ ${program} ${args.join(" ")}`;
  console.log(isQuiet ? `\n... ${group}: ${name} starts` : `\n${title}`);
  const begin = performance.now();
  const { code, output } = await run(program, args, { env, minutes, isQuiet });
  if (isQuiet) console.log(`\n${title}\n${output}`);
  const counted = countTests(output);
  const tests = counted ?? { passed: 0, failed: 0, skipped: 0 };
  const outcome = code === skippedCode ? "skip" : code === 0 && tests.failed === 0 ? "pass" : "FAIL";
  if (outcome === "FAIL") tests.failed ||= 1;
  else if (!counted) tests[outcome === "skip" ? "skipped" : "passed"] = 1;
  const failures = outcome === "FAIL" ? failureLines(output) : [];
  const seconds = (performance.now() - begin) / 1000;
  console.log(`\n... ${group}: ${name}: ${outcome} in ${duration(seconds)}`);
  return { group, name, outcome, tests, failures, isCounted: counted !== null, seconds };
}

/** Runs steps one after another and resolves to their results. */
async function runLane(steps, isQuiet) {
  const results = [];
  for (const step of steps) results.push(await runStep(step, isQuiet));
  return results;
}

const sentence = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(1);
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

function printSummary(results, seconds) {
  const rows = results.map(({ group, name, outcome, tests, isCounted, seconds }) => [
    outcome,
    group,
    name,
    isCounted ? sentence(tests) : "",
    duration(seconds),
  ]);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  console.log("\n=== summary");
  for (const row of rows) {
    console.log(row.map((cell, column) => (column === 4 ? cell.padStart(widths[4]) : cell.padEnd(widths[column]))).join("  "));
  }
  console.log(`in ${duration(seconds)}`);
}

/** Prints which tests failed, since their own output may be far above. */
function printFailures(results) {
  for (const { group, name, failures } of results) {
    if (failures.length > 0) console.log(`\n=== failed: ${group}: ${name}\n${failures.join("\n")}`);
  }
}

await exitWith(async () => {
  const chosen = process.argv.slice(2);
  const known = [...groups, ...longGroups];
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Remedy(`unknown: ${unknown.join(", ")}; known: ${known.join(", ")}`);
  await setup({ tests: true });

  const lanes = choose(chosen.length > 0 ? chosen : groups);
  const begin = performance.now();
  const results = (await Promise.all(lanes.map((lane) => runLane(lane, lanes.length > 1)))).flat();
  printSummary(results, (performance.now() - begin) / 1000);
  printFailures(results);

  const sum = (of) => results.reduce((total, { tests }) => total + tests[of], 0);
  const all = { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
  console.log(sentence(all));
  if (all.failed > 0) process.exitCode = 1;
});
