// The report: all results with the browser and the machine, as Markdown and JSON.
import type { CudaRun } from "../cuda/calls";
import { EXAMPLES, type ExampleName } from "../cuda/examples";
import { engines } from "../engines/list";
import { formatFlops, type ProductResult } from "../gpu/matmul";
import type { OperationResult } from "../gpu/operations";
import type { CancelResult, CorruptResult, FileResult, LossResult, SweepResult } from "../press/calls";
import type { Spread } from "../measure/stats";
import type { Outcome, RaceResult } from "../race/race";
import { copyText, element } from "../shell/dom";
import * as format from "../shell/format";
import { onFinding, type Finding } from "../shell/results";
import { onTab } from "../shell/tabs";
import { save } from "../share/save";
import { optionsText } from "../shell/press";
import { raceInput } from "../race/race";
import { knownCapabilities } from "./badge";

declare const __VERSION__: string;

type FileFinding = FileResult & { name: string; verified: boolean };

/** Returns the version, the browser and the machine. */
function machine(): Record<string, unknown> {
  const { userAgent, hardwareConcurrency, language } = navigator;
  const deviceMemory = (navigator as { deviceMemory?: number }).deviceMemory ?? null;
  return {
    pagepress: __VERSION__,
    date: new Date().toISOString(),
    browser: userAgent,
    cores: hardwareConcurrency,
    memoryGiB: deviceMemory,
    language,
    engine: window.__backend,
    adapters: knownCapabilities()?.adapters.map(({ vendor, architecture, device, description, software }) => ({
      vendor,
      architecture,
      device,
      description,
      software,
    })),
  };
}

/** Returns all results as JSON. */
export function jsonReport(): string {
  return JSON.stringify({ ...machine(), findings: window.__results }, null, 2);
}

/** Returns the results as Markdown, with a table per benchmark. */
export function markdownReport(): string {
  const backend = window.__backend;
  const lines = [`Pagepress ${__VERSION__} in ${navigator.userAgent}, ${navigator.hardwareConcurrency} cores.`];
  if (backend && "engine" in backend) {
    const { engine, adapter, reason, rejected } = backend;
    lines.push(`Engine: ${engine}${adapter ? `, ${adapter}` : ""}: ${reason}.`);
    for (const { candidate, reason: against } of rejected) lines.push(`Not ${candidate}: ${against}.`);
  }
  const races = window.__results.filter(({ kind }) => kind === "bench") as unknown as RaceResult[];
  for (const race of races) lines.push("", ...raceTable(race));
  if (races.length === 0) lines.push("", "No measurements yet.");
  const others = window.__results.flatMap(lineOf);
  if (others.length > 0) lines.push("", ...others);
  return lines.join("\n");
}

/** Returns the table of a race. */
function raceTable(race: RaceResult): string[] {
  const busy = race.isBusy ? " The machine was busy." : "";
  return [
    `**${raceInput(race)}**; ${optionsText(race)}; ${format.plural(race.rounds, "round")}.${busy}`,
    "",
    "| engine | compress, median | best | decompress, median | best | ratio |",
    "|---|---|---|---|---|---|",
    ...engines.flatMap(({ id, name }) => (race.engines[id] ? [rowOf(name, race.engines[id])] : [])),
  ];
}

/** Returns the line of a result other than a benchmark, if its kind has one. */
function lineOf(finding: Finding): string[] {
  if (finding.kind === "file") {
    const { name, inputBytes, outputBytes, verified, digest } = finding as unknown as FileFinding;
    const proof = verified ? `round trip verified, ${digest.kind} ${digest.hex}` : "round trip failed";
    return [`- ${name}: ${format.size(inputBytes)} to ${format.size(outputBytes)}, ${proof}`];
  }
  if (finding.kind === "sweep") {
    const { crossover, withoutGpu } = finding as unknown as SweepResult & { crossover: Record<string, number | null> };
    const from = (bytes: number | null | undefined): string => (bytes == null ? "never" : `from ${format.size(bytes)}`);
    const text = withoutGpu ?? `compress ${from(crossover["compress"])}, decompress ${from(crossover["decompress"])}`;
    return [`- GPU faster than CPU: ${text}`];
  }
  if (finding.kind === "matmul") {
    const { points, names } = finding as unknown as ProductResult;
    return Object.entries(names).map(([engine, name]) => {
      const speeds = points.filter((point) => point.engine === engine).map(({ size, gflops }) => `${size}: ${formatFlops(gflops)}`);
      return `- Matrix products by rows, ${engine}, ${name}: ${speeds.join(", ")}`;
    });
  }
  if (finding.kind === "operations") {
    const { points, rows, cols } = finding as unknown as OperationResult;
    const times = points.map(({ operation, engine, times: { median } }) => `${operation} ${engine} ${format.duration(median)}`);
    return [`- Operations on ${rows} × ${cols} elements: ${times.join(", ")}`];
  }
  if (finding.kind === "cuda") {
    const { example, device, milliseconds, checked, different } = finding as unknown as CudaRun & { example: ExampleName };
    const { label } = EXAMPLES[example];
    return [`- ${label} in CUDA C on ${device}: ${format.duration(milliseconds)}, ${format.count(checked - different)} of ${format.count(checked)} elements equal`];
  }
  if (finding.kind === "corrupt") {
    const { tally, nTried, unnoticed } = finding as unknown as CorruptResult;
    const codes = Object.entries(tally).map(([code, n]) => `${code} ${n}`).join(", ");
    return [`- ${nTried} bytes changed: ${codes}; ${unnoticed.changed} wrong results`];
  }
  if (finding.kind === "cancel") {
    const { bytes, stoppedMs, afterEqual } = finding as unknown as CancelResult;
    return [`- Call of ${format.size(bytes)} cancelled: stopped in ${format.duration(stoppedMs)}, next call ${afterEqual ? "right" : "wrong"}`];
  }
  if (finding.kind === "loss") {
    const { counters, duringEqual, afterEqual } = finding as unknown as LossResult;
    return [`- Device lost ${counters.lost}, replaced ${counters.replaced}, ${duringEqual && afterEqual ? "right bytes" : "wrong bytes"}`];
  }
  return [];
}

function rowOf(name: string, outcome: Outcome): string {
  if ("failure" in outcome) return `| ${name}: ${outcome.failure.message} | – | – | – | – | – |`;
  const { detail, inputBytes, outputBytes, compress, decompress } = outcome;
  const cells = (spread: Spread | null): string[] =>
    [spread?.median, spread?.least].map((time) => (time === undefined ? "–" : (format.speed(inputBytes, time) ?? "–")));
  return `| ${[`${name}: ${detail}`, ...cells(compress), ...cells(decompress), format.ratio(inputBytes / outputBytes)].join(" | ")} |`;
}

export function initReport(): void {
  const refresh = (): void => {
    element("report").textContent = markdownReport();
  };
  onTab("verify", refresh);
  for (const kind of ["file", "bench", "sweep", "corrupt", "loss", "cancel", "matmul", "operations", "cuda"]) onFinding(kind, refresh);
  const [markdown, json] = [element("copy-markdown"), element("copy-json")];
  markdown.addEventListener("click", () => {
    refresh();
    void copyText(markdownReport(), markdown);
  });
  json.addEventListener("click", () => void copyText(jsonReport(), json));
  element("save-markdown").addEventListener("click", () => save(new Blob([markdownReport()], { type: "text/markdown" }), "pagepress-results.md"));
  element("save-json").addEventListener("click", () => save(new Blob([jsonReport()], { type: "application/json" }), "pagepress-results.json"));
}
