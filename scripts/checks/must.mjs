// Runs required commands and lists of cases for the checks.
import { Remedy, run } from "../process.mjs";

/** Runs a program and resolves to its output. Throws a `Remedy` if it fails. */
export async function must(program, args, options) {
  const { code, output } = await run(program, args, options);
  if (code !== 0) throw new Remedy(`\`${program} ${args.join(" ")}\` failed (exit code ${code})`);
  return output;
}

/** Runs `main` for each of `cases`, given as name and arguments. Throws a `Remedy` that names the failed cases. */
export async function each(cases, main) {
  const failed = [];
  for (const [name, ...values] of cases) {
    console.log(`\n--- ${name}`);
    try {
      await main(...values);
    } catch (error) {
      if (!(error instanceof Remedy)) throw error;
      console.error(error.message);
      failed.push(name);
    }
  }
  if (failed.length > 0) throw new Remedy(`failed: ${failed.join("; ")}`);
}
