// Finds a test case by suite and name, and runs it.
import { casesFor } from "./shaders.js";

/** The suites that are part of another module. */
const parts = {
  "cpu-without-gpu": ["cpu", "casesWithoutGpu"],
  "conformance-in-workers": ["conformance", "casesInWorkers"],
  "dictionary-in-workers": ["dictionary", "casesInWorkers"],
  "resident-in-workers": ["resident", "casesInWorkers"],
  "streams-in-workers": ["streams", "casesInWorkers"],
  "tensor-in-workers": ["tensor", "casesInWorkers"],
  "tensor-without-gpu": ["tensor", "casesWithoutGpu"],
  "dictionary-with-gpu": ["dictionary", "casesWithGpu"],
  "snapshots-with-gpu": ["snapshots", "casesWithGpu"],
  "streams-with-gpu": ["streams", "casesWithGpu"],
};

async function casesOf(suite, shaders) {
  if (suite === "shaders") return casesFor(shaders);
  const [file, cases] = parts[suite] ?? [suite, "cases"];
  return (await import(`./${file}.js`))[cases];
}

/** Returns the names of the cases in a suite. */
export async function namesOf(suite, shaders) {
  return (await casesOf(suite, shaders)).map(([name]) => name);
}

/** Runs a case, which gets the names of the shaders, and returns null or the text of its error. */
export async function runCase({ suite, name, shaders }) {
  try {
    const found = (await casesOf(suite, shaders)).find(([candidate]) => candidate === name);
    await found[1](shaders);
    return null;
  } catch (error) {
    return [error.message ?? error, ...(error.stack ?? "").split("\n").slice(1, 5)].join("\n");
  }
}
