// Runs other programs from the root of the repository.
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const root = path.resolve(fileURLToPath(import.meta.url), "../..");

/** A failure whose message tells the user what to do; shown without a stack. */
export class Remedy extends Error {}

/** Exit code of a step that could not run, as in Automake's tests. */
export const skippedCode = 77;

/** The reason why a step cannot run here, which is no failure. */
export class Skip extends Remedy {}

/** Most minutes of one program, far more than any needs on a slow machine: one that takes longer hangs. */
const LIMIT_MINUTES = Number(process.env.PAGEPRESS_STEP_MINUTES ?? 60);

/** Programs that run now, ended with this one. */
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    for (const child of running) end(child, signal);
    process.kill(process.pid, signal);
  });
}

/** Sends a signal to a program and to all that it started. */
function end(child, signal) {
  try {
    if (process.platform === "win32") spawnSync("taskkill", ["/pid", String(child.pid), "/t", "/f"]);
    else process.kill(-child.pid, signal);
  } catch {
    // It ended by itself.
  }
}

/**
 * Runs a program to its end and shows its output as it comes. One that has not ended after `minutes` is killed, with all
 * that it started.
 *
 * Resolves to its exit code (124 when it was killed for its time, 127 when it cannot be started, 1 when a signal ended it)
 * and its whole output as text.
 */
export function run(command, args, { cwd = root, env = {}, minutes = LIMIT_MINUTES } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A process group of its own, so that its children can be killed with it.
      detached: process.platform !== "win32",
    });
    running.add(child);
    const chunks = [];
    const output = () => Buffer.concat(chunks).toString();
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.on("data", (chunk) => {
        chunks.push(chunk);
        to.write(chunk);
      });
    }
    const timers = [];
    const done = (code) => {
      timers.forEach(clearTimeout);
      running.delete(child);
      resolve({ code, output: output() });
    };
    const after = (ms, act) => timers.push(setTimeout(act, ms));
    after(minutes * 60_000, () => {
      console.error(`\n${command} ${args.join(" ")}: not done after ${minutes} minutes, killed`);
      end(child, "SIGTERM");
      after(10_000, () => end(child, "SIGKILL"));
      // Whoever left the process group may hold the pipes for ever.
      after(15_000, () => (child.stdout.destroy(), child.stderr.destroy(), done(124)));
      child.removeAllListeners("close").on("close", () => done(124));
    });
    child.on("error", (error) => (chunks.push(Buffer.from(String(error))), done(127)));
    child.on("close", (code) => done(code ?? 1));
  });
}

/** Output of a short command, or null when it fails, is not there or takes more than a minute. */
export function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stdout.trim() : null;
}

/** Runs `main`; a failure is printed, a `Remedy` without its stack, and sets the exit code. A `Skip` is no failure. */
export async function exitWith(main) {
  try {
    await main();
  } catch (error) {
    if (error instanceof Skip) console.log(`skipped: ${error.message}`);
    else console.error(error instanceof Remedy ? `\n${error.message}` : error);
    process.exitCode = error instanceof Skip ? skippedCode : 1;
  }
}
