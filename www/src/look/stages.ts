// Shows the time per stage of a call on the GPU, from the package's timing of the last measured run.
import type { Timing } from "pagepress";
import type { BenchResult } from "../engines/calls";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { newest } from "../shell/results";

const STAGES: [keyof Timing, string][] = [
  ["uploadNs", "Upload"],
  ["kernelNs", "Kernels"],
  ["readbackNs", "Read back"],
];

type Engines = Record<string, BenchResult | { failure: { message: string } }>;

/** Shows the stages of the newest benchmark. */
export function showStages(): void {
  const engines = newest("bench")?.["engines"] as Engines | undefined;
  const gpu = engines?.["gpu"];
  const at = element("stages");
  if (!gpu) return at.replaceChildren(make("p", "soft", "Compress a file with “Pagepress, GPU” selected to see its stages."));
  if ("failure" in gpu) {
    return at.replaceChildren(make("p", "soft", `No stages: ${gpu.failure.message}. A call on the CPU has a single stage.`));
  }
  if (!gpu.timing) return;
  const [compress, decompress] = [stagesOf("Compress", gpu.timing.compress), stagesOf("Decompress", gpu.timing.decompress)];
  at.replaceChildren(
    compress,
    decompress,
    make("p", "soft", `${gpu.detail}, ${format.size(gpu.inputBytes)}. Jobs overlap, so stages may add up to more than the whole call.`),
  );
}

function stagesOf(title: string, timing: Timing): HTMLElement {
  const known = STAGES.map(([key, name]) => [name, timing[key] as number | null] as const);
  const longest = Math.max(timing.totalNs, ...known.map(([, ns]) => ns ?? 0));
  const lines = known.map(([name, ns]) => stageLine(name, ns, longest, "stage"));
  return make("div", "stages", make("h3", "", title), ...lines, stageLine("Whole call", timing.totalNs, longest, "whole"));
}

function stageLine(name: string, ns: number | null, longest: number, className: string): HTMLElement {
  const fill = make("i", `fill ${className}`);
  fill.style.transform = `scaleX(${(ns ?? 0) / longest})`;
  const track = make("div", "track", fill);
  track.ariaHidden = "true";
  const value = ns === null ? "not available" : format.duration(ns / 1e6);
  return make("div", "stage-line", make("span", "", name), track, make("span", "number", value));
}
