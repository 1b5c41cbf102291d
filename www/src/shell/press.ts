// The worker that has Pagepress, as the page uses it; and what the visitor chose for it.
import { Client } from "../rpc/client";
import type { EngineChoice, FileOptions, PressCalls } from "../press/calls";
import { element } from "./dom";

/** The one worker for all but benches. */
export const press = new Client<PressCalls>(
  () => new Worker(new URL("../press/worker.ts", import.meta.url), { type: "module", name: "press" }),
);

const select = (id: string): HTMLSelectElement => element<HTMLSelectElement>(id);

/** The engine that the visitor asks for. */
export function engineChoice(): EngineChoice {
  return { backend: select("backend").value as EngineChoice["backend"], allowSoftware: allowsSoftware() };
}

/** Whether a GPU may be one in software. */
export function allowsSoftware(): boolean {
  return element<HTMLInputElement>("allow-software").checked;
}

/** The frame that the visitor asks for, and the engine. */
export function fileOptions(): FileOptions {
  return {
    ...engineChoice(),
    blockSize: Number(select("block-size").value),
    level: select("level").value as FileOptions["level"],
    index: element<HTMLInputElement>("index").checked,
  };
}

/** Measured runs of each engine. */
export function chosenRuns(): number {
  return Number(select("runs").value);
}
