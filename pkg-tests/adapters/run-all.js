import { cases } from "./cases.js";

/** Fetches a file of the test. */
async function read(path) {
  const response = await fetch(new URL(`files/${path}`, globalThis.location.href));
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Runs all cases; returns the error of each, or null. */
export async function runAll() {
  const files = JSON.parse(new TextDecoder().decode(await read("files.json")));
  const results = {};
  for (const [name, work] of Object.entries(cases)) {
    const failed = await work({ files, read, write: async () => undefined }).then(() => null, (error) => String(error?.stack ?? error));
    results[name] = failed;
  }
  return results;
}
