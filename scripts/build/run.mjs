// Runs the commands of the build.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Runs a command in the root of the repository with inherited output. Rejects if it fails. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    child.on("error", (error) => reject(new Error(`${command} does not start: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${[command, ...args].join(" ")} ended with ${signal ?? `code ${code}`}`));
    });
  });
}

/** Runs a command and resolves to its standard output. Rejects if it fails. */
export function output(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    let text = "";
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"], ...options });
    child.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
    child.on("error", (error) => reject(new Error(`${command} does not start: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with code ${code}`));
    });
  });
}

/** Prints an error and sets exit code 1. */
export function fail(error) {
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
}
