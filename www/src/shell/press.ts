// The client of the worker that runs Pagepress, and the visitor's choice of options.
import { Client } from "../rpc/client";
import type { RaceOptions } from "../engines/calls";
import type { EngineChoice, FileOptions, PressCalls } from "../press/calls";
import { element } from "./dom";
import * as format from "./format";

/** The worker of all calls but races, which have a worker per engine. */
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

/** All options of a job. */
export interface JobOptions {
  file: FileOptions;
  race: RaceOptions;
}

/** Returns the selected options. A job reads them once, when it starts, so that all of its parts have the same. */
export function chosenOptions(): JobOptions {
  const blockSize = Number(select("block-size").value);
  const level = select("level").value as FileOptions["level"];
  const index = element<HTMLInputElement>("index").checked;
  const { backend, allowSoftware } = engineChoice();
  return {
    file: { backend, allowSoftware, blockSize, level, index },
    race: { rounds: Number(select("runs").value), blockSize, level, allowSoftware },
  };
}

/** Returns the options that determine the compressed bytes, as text. */
export function optionsText({ level, blockSize }: Pick<RaceOptions, "level" | "blockSize">): string {
  return `level ${level === "auto" ? "automatic" : level}, blocks of ${format.size(blockSize)}`;
}

/** Calls `changed` when the visitor changes an option that applies to a race. */
export function onRaceOptions(changed: () => void): void {
  for (const id of ["block-size", "level", "runs", "allow-software"]) element(id).addEventListener("change", changed);
}
