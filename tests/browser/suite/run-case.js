// Finds a case by suite and name, and runs it.
import { casesFor } from "./shaders.js";

async function casesOf(suite, shaders) {
  if (suite === "shaders") return casesFor(shaders);
  const module = await import(`./${suite === "cpu-without-gpu" ? "cpu" : suite}.js`);
  return suite === "cpu-without-gpu" ? module.casesWithoutGpu : module.cases;
}

/** The names of the cases in a suite. */
export async function namesOf(suite, shaders) {
  return (await casesOf(suite, shaders)).map(([name]) => name);
}

/** Runs a case: null, or what went wrong. */
export async function runCase({ suite, name, shaders }) {
  try {
    const found = (await casesOf(suite, shaders)).find(([candidate]) => candidate === name);
    await found[1]();
    return null;
  } catch (error) {
    return [error.message ?? error, ...(error.stack ?? "").split("\n").slice(1, 5)].join("\n");
  }
}
