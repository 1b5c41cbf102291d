// `npm test`: installs what is missing, runs every step, shows a table, fails when a step fails.
//
// `npm test -- native browser package page` runs only the groups named.
import { exitWith, Remedy, run } from "./process.mjs";
import { setup } from "./setup.mjs";
import { choose, countTests, groups } from "./steps.mjs";

/** Runs a step; a step whose own count has failures fails even when its exit code is 0. */
async function runStep({ group, name, command: [program, args], env }) {
  console.log(`\n=== ${group}: ${name}\n$ ${program} ${args.join(" ")}`);
  const begin = performance.now();
  const { code, output } = await run(program, args, { env });
  const tests = countTests(output);
  const passed = code === 0 && !tests?.failed;
  return { group, name, passed, tests, seconds: (performance.now() - begin) / 1000 };
}

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(1);
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

function printSummary(results) {
  const rows = results.map(({ group, name, passed, tests, seconds }) => [
    passed ? "pass" : "FAIL",
    group,
    name,
    tests ? `${tests.passed} passed, ${tests.failed} failed` : "",
    duration(seconds),
  ]);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  console.log("\n=== summary");
  for (const row of rows) {
    console.log(row.map((cell, column) => (column === 4 ? cell.padStart(widths[4]) : cell.padEnd(widths[column]))).join("  "));
  }
  const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
  console.log(`in ${duration(total)}`);
}

await exitWith(async () => {
  const chosen = process.argv.slice(2);
  const unknown = chosen.filter((name) => !groups.includes(name));
  if (unknown.length > 0) throw new Remedy(`unknown: ${unknown.join(", ")}; known: ${groups.join(", ")}`);
  await setup({ tests: true });

  const results = [];
  for (const step of choose(chosen.length > 0 ? chosen : groups)) results.push(await runStep(step));
  printSummary(results);

  const failed = results.filter((result) => !result.passed).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
