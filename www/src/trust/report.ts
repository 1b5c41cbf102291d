// The report: all that was measured, with the browser and the machine it was measured on, to be copied.
import type { BenchResult } from "../engines/calls";
import { engines } from "../engines/list";
import type { Spread } from "../compress/stats";
import { copyText, element } from "../shell/dom";
import * as format from "../shell/format";
import { onFinding } from "../shell/results";
import { onTab } from "../shell/tabs";
import { knownCapabilities } from "./badge";

declare const __VERSION__: string;

type Measured = BenchResult & { compress: Spread; decompress: Spread };
type Entry = Measured | { failure: { code: string; message: string } };

/** Where all this was measured. */
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

/** Everything, for programs. */
export function jsonReport(): string {
  return JSON.stringify({ ...machine(), findings: window.__results }, null, 2);
}

/** What people read: a table for each bench. */
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
  if (benches.length === 0) lines.push("", "Nothing was measured yet.");
  return lines.join("\n");
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
  onFinding("bench", refresh);
  const [markdown, json] = [element("copy-markdown"), element("copy-json")];
  markdown.addEventListener("click", () => {
    refresh();
    void copyText(markdownReport(), markdown);
  });
  json.addEventListener("click", () => void copyText(jsonReport(), json));
}
