// Runs other programs from the root of the repository.
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const root = path.resolve(fileURLToPath(import.meta.url), "../..");

/** A failure whose message tells the user what to do; shown without a stack. */
export class Remedy extends Error {}

/**
 * Runs a program to its end and shows its output as it comes.
 *
 * Resolves to its exit code (127 when it cannot be started, 1 when a signal ended it) and its whole output as text.
 */
export function run(command, args, { env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const chunks = [];
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.on("data", (chunk) => {
        chunks.push(chunk);
        to.write(chunk);
      });
    }
    child.on("error", (error) => resolve({ code: 127, output: String(error) }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

/** Output of a short command, or null when it fails or is not there. */
export function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

/** Runs `main`; a failure is printed, a `Remedy` without its stack, and sets the exit code. */
export async function exitWith(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Remedy ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
