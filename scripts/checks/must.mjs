// Commands that a check cannot do without.
import { Remedy, run } from "../process.mjs";

/** Runs a program and gives its output; throws a `Remedy` when it fails. */
export async function must(program, args, options) {
  const { code, output } = await run(program, args, options);
  if (code !== 0) throw new Remedy(`\`${program} ${args.join(" ")}\` failed (exit code ${code})`);
  return output;
}

/** Runs `main` for each of `cases`, counts those that fail, and throws a `Remedy` that names them at the end. */
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
