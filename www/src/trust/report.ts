// The report: all results with the browser and the machine, as Markdown and JSON.
import type { BenchResult } from "../engines/calls";
import { engines } from "../engines/list";
import type { MatmulResult } from "../tensor/calls";
import type { CorruptResult, FileResult, LossResult, SweepResult } from "../press/calls";
import type { Spread } from "../compress/stats";
import { copyText, element } from "../shell/dom";
import * as format from "../shell/format";
import { onFinding, type Finding } from "../shell/results";
import { onTab } from "../shell/tabs";
import { knownCapabilities } from "./badge";

declare const __VERSION__: string;

type Measured = BenchResult & { compress: Spread; decompress: Spread };
type FileFinding = FileResult & { name: string; verified: boolean };
type Entry = Measured | { failure: { code: string; message: string } };

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
  const benches = window.__results.filter(({ kind }) => kind === "bench");
  for (const bench of benches) {
    lines.push("", `**${bench["name"]}**, ${format.size(bench["bytes"] as number)}, blocks of ${format.size(bench["blockSize"] as number)}, level ${bench["level"]}:`, "");
    lines.push("| engine | compress | decompress | ratio | runs |", "|---|---|---|---|---|");
    const entries = bench["engines"] as Record<string, Entry>;
    for (const { id, name } of engines) {
      const entry = entries[id];
      if (entry) lines.push(rowOf(name, entry));
    }
  }
  if (benches.length === 0) lines.push("", "No measurements yet.");
  const others = window.__results.flatMap(lineOf);
  if (others.length > 0) lines.push("", ...others);
  return lines.join("\n");
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
    const { points, device, withoutGpu } = finding as unknown as MatmulResult;
    const onGpu = points.filter(({ engine }) => engine === "webgpu");
    const speeds = onGpu.map(({ size, gflops, error }) => `${size}: ${format.round(gflops)} (error ${error.toExponential(1)})`);
    return [`- Matrix products, GFLOP/s by rows: ${device ? `${device}: ${speeds.join(", ")}` : withoutGpu}`];
  }
  if (finding.kind === "convolution") {
    const { images, milliseconds, where } = finding as unknown as { images: number; milliseconds: number; where: string };
    return [`- Convolution of ${images} images: ${format.duration(milliseconds)} each, ${where}`];
  }
  if (finding.kind === "corrupt") {
    const { tally, nTried, unnoticed } = finding as unknown as CorruptResult;
    const codes = Object.entries(tally).map(([code, n]) => `${code} ${n}`).join(", ");
    return [`- ${nTried} bytes changed: ${codes}; ${unnoticed.changed} wrong results`];
  }
  if (finding.kind === "loss") {
    const { counters, duringEqual, afterEqual } = finding as unknown as LossResult;
    return [`- Device lost ${counters.lost}, replaced ${counters.replaced}, ${duringEqual && afterEqual ? "right bytes" : "wrong bytes"}`];
  }
  return [];
}

function rowOf(name: string, entry: Entry): string {
  if ("failure" in entry) return `| ${name} | – | – | – | ${entry.failure.message} |`;
  const { detail, inputBytes, outputBytes, compress, decompress, runs } = entry;
  const cell = ({ median, least, most }: Spread): string =>
    `${format.speed(inputBytes, median) ?? "–"} (${format.duration(least)} to ${format.duration(most)})`;
  return `| ${name}: ${detail} | ${cell(compress)} | ${cell(decompress)} | ${format.ratio(inputBytes / outputBytes)} | ${runs.length} |`;
}

export function initReport(): void {
  const refresh = (): void => {
    element("report").textContent = markdownReport();
  };
  onTab("trust", refresh);
  for (const kind of ["file", "bench", "sweep", "corrupt", "loss", "matmul", "convolution"]) onFinding(kind, refresh);
  const [markdown, json] = [element("copy-markdown"), element("copy-json")];
  markdown.addEventListener("click", () => {
    refresh();
    void copyText(markdownReport(), markdown);
  });
  json.addEventListener("click", () => void copyText(jsonReport(), json));
}
