// Runs other programs from the root of the repository.
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = path.resolve(fileURLToPath(import.meta.url), "../..");

/** A failure with a message that says how to fix it; printed without a stack. */
export class Remedy extends Error {}

/** The exit code of a skipped step, as in Automake. */
export const skippedCode = 77;

/** The reason why a step cannot run on this machine; not a failure. */
export class Skip extends Remedy {}

/** Time limit of a program in minutes. Far more than any needs, so that only programs that hang reach it. */
const LIMIT_MINUTES = Number(process.env.PAGEPRESS_STEP_MINUTES ?? 60);

/** The running programs, which end with this process. */
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    for (const child of running) end(child, signal);
    process.kill(process.pid, signal);
  });
}

/** Sends a signal to a program and its descendants. */
function end(child, signal) {
  try {
    if (process.platform === "win32") spawnSync("taskkill", ["/pid", String(child.pid), "/t", "/f"]);
    else process.kill(-child.pid, signal);
  } catch {
    // The program has already exited.
  }
}

/**
 * Runs a program and forwards its output, unless `isQuiet`. Kills it and its descendants after `minutes`.
 *
 * Resolves to `{code, output}`: the exit code (124 after a timeout, 127 if the program cannot be started, 1 after a
 * signal) and the complete output as text.
 */
export function run(command, args, { cwd = root, env = {}, minutes = LIMIT_MINUTES, isQuiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, so that descendants can be killed as well.
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
        if (!isQuiet) to.write(chunk);
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
      // Processes that left the group may keep the pipes open forever.
      after(15_000, () => (child.stdout.destroy(), child.stderr.destroy(), done(124)));
      child.removeAllListeners("close").on("close", () => done(124));
    });
    child.on("error", (error) => (chunks.push(Buffer.from(String(error))), done(127)));
    child.on("close", (code) => done(code ?? 1));
  });
}

/** Returns the trimmed output of a command; null if it fails, does not exist or takes more than a minute. */
export function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stdout.trim() : null;
}

/**
 * Runs `main`, prints an error it throws (a `Remedy` without stack) and sets the exit code: 1, or `skippedCode` for a
 * `Skip`.
 */
export async function exitWith(main) {
  try {
    await main();
  } catch (error) {
    if (error instanceof Skip) console.log(`skipped: ${error.message}`);
    else console.error(error instanceof Remedy ? `\n${error.message}` : error);
    process.exitCode = error instanceof Skip ? skippedCode : 1;
  }
}
