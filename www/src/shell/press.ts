// The client of the worker that runs Pagepress, and the visitor's choice of options.
import { Client } from "../rpc/client";
import type { EngineChoice, FileOptions, PressCalls } from "../press/calls";
import { element } from "./dom";

/** The worker of all calls but benchmarks, which run in a worker per engine. */
export const press = new Client<PressCalls>(
  () => new Worker(new URL("../press/worker.ts", import.meta.url), { type: "module", name: "press" }),
);

const select = (id: string): HTMLSelectElement => element<HTMLSelectElement>(id);

/** Returns the selected backend. */
export function engineChoice(): EngineChoice {
  return { backend: select("backend").value as EngineChoice["backend"], allowSoftware: allowsSoftware() };
}

/** Returns true if software adapters are allowed. */
export function allowsSoftware(): boolean {
  return element<HTMLInputElement>("allow-software").checked;
}

/** Returns the selected frame options and backend. */
export function fileOptions(): FileOptions {
  return {
    ...engineChoice(),
    blockSize: Number(select("block-size").value),
    level: select("level").value as FileOptions["level"],
    index: element<HTMLInputElement>("index").checked,
  };
}

/** Returns the selected number of measured runs per engine. */
export function chosenRuns(): number {
  return Number(select("runs").value);
}
