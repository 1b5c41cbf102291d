// Compiles variants of kernels on a GPU by `examples/compile_kernels.rs`, and collects what the compiler prints.
import path from "node:path";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * Compiles variants on a device, in their order, each within `limit` seconds, and calls `tell` with the statistics of each.
 *
 * Returns the device's `description`, the statistics of the variants that `compiled`, and the messages `failures`. A compiler that aborts
 * ends the process: the next process goes on with the variant after it. Variants beyond the limit are `slow`, and nothing is known of them.
 */
export async function compileVariants(device, variants, tools, options) {
  const result = { compiled: [], failures: [], slow: [] };
  let rest = variants;
  while (rest.length > 0) {
    const { end, last } = await compileUntilEnd(device, rest, tools, options, result);
    if (!result.description) {
      result.failures.push(`the device cannot be opened: ${end || "the program says nothing"}`);
      break;
    }
    if (last === null) break;
    const message = end === "slow" ? result.slow : result.failures;
    message.push(end === "slow" ? last : `${last}: the compiler ended the process${end && `: ${end}`}`);
    rest = rest.slice(rest.indexOf(last) + 1);
  }
  return result;
}

/** Returns the command, the arguments and the environment that run the program on a device. */
export function commandFor(device, { libraries, manifests, shim, launcher, program }, words) {
  const variables = {
    ...device.variables,
    VK_DRIVER_FILES: path.join(manifests, `${device.manifest}_icd.json`),
    VK_LOADER_LAYERS_DISABLE: "*",
    MESA_SHADER_CACHE_DISABLE: "1",
  };
  const [command, ...args] = [...launcher, "--preload", shim, "--library-path", libraries, program, ...words];
  return [command, args, { ...process.env, ...variables }];
}

/** Runs a process until it ends. Returns the variant that ended it, or null, and its last words or "slow". */
async function compileUntilEnd(device, variants, tools, { limit, tell }, result) {
  const [command, args, env] = commandFor(device, tools, variants);
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let [end, current] = ["", null];
  let timer;
  const keep = () => {
    if (!current) return;
    result.compiled.push(current);
    tell(current);
    current = null;
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const [, word, rest] = /^(device|kernel|failed|all kernels): (.*)/.exec(line) ?? [];
    if (word === "device") result.description = rest;
    else if (word === "failed") result.failures.push(`${current.variant}: ${rest}`);
    else if (word === "kernel") {
      keep();
      current = { variant: rest, kernel: rest.split(" ")[0], registers: 0, waves: 0, spills: 0, bytes: 0 };
      clearTimeout(timer);
      timer = setTimeout(() => ((end = "slow"), child.kill("SIGKILL")), limit * 1000);
    } else if (word === "all kernels") keep();
    else if (current) device.read(line, current);
    if (!word && end !== "slow") end = line;
  }
  clearTimeout(timer);
  return { end, last: current?.variant ?? null };
}

/** Returns the statistics of each kernel: the worst of its variants. */
export function worst(compiled) {
  const kernels = {};
  for (const { kernel: name, waves, ...most } of compiled) {
    const kernel = (kernels[name] ??= { variants: 0, registers: 0, waves: Infinity, spills: 0, bytes: 0 });
    kernel.variants += 1;
    kernel.waves = Math.min(kernel.waves, waves);
    for (const number of ["registers", "spills", "bytes"]) kernel[number] = Math.max(kernel[number], most[number]);
  }
  return kernels;
}
