// The sweep: both engines over a range of sizes, their crossover, and the choice of "auto".
import type { SweepEngine, SweepPoint, SweepResult } from "../press/calls";
import { absence } from "../shell/absence";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { allowsSoftware, press } from "../shell/press";
import { onThemeOrWidth } from "../shell/redraw";
import { record } from "../shell/results";
import { currentSubject } from "../shell/subject";
import { crossoverOf, type Way } from "./crossover";

let points: SweepPoint[] = [];

const chosenWay = (): Way => element<HTMLSelectElement>("sweep-way").value as Way;
const NAMES: Record<SweepEngine, string> = { webgpu: "GPU", cpu: "CPU", one: "CPU, one thread" };
const nameOf = (engine: SweepEngine): string => NAMES[engine];

/** Draws the points measured so far. The plotting library is loaded on first use. */
async function draw(): Promise<void> {
  if (points.length === 0) return;
  const { drawChart } = await import("./chart");
  drawChart(element("sweep-chart"), points, chosenWay());
}

function showText(result: SweepResult): void {
  const lines = [
    ...(result.withoutGpu === null
      ? crossovers("webgpu", "the GPU", "cpu", "the CPU")
      : [`GPU. ${absence(result.withoutGpu)}`, ...crossovers("cpu", "the CPU with workers", "one", "one thread")]),
    ...autoLines(result),
    ...bestLine(),
    ...result.stopped.map(({ engine, bytes }) => `${nameOf(engine)}: sizes above ${format.size(bytes)} skipped, too slow`),
    ...(points.some(({ isBusy }) => isBusy) ? ["This machine is busy: the slowest round took more than twice the time of the fastest."] : []),
  ];
  element("sweep-text").replaceChildren(...lines.map((line) => make("li", "", line)));
}

/** Returns the best round of each engine at the largest size it was measured at, beside the median. */
function bestLine(): string[] {
  return (["webgpu", "cpu", "one"] as const).flatMap((engine) => {
    const point = points.findLast((one) => one.engine === engine);
    if (!point) return [];
    const { bytes, best } = point;
    const text = (["compressMs", "decompressMs"] as const).map((way) => {
      const verb = way === "compressMs" ? "compress" : "decompress";
      return `${verb} ${format.speed(bytes, point[way])} (best ${format.speed(bytes, best[way])})`;
    });
    return [`${nameOf(engine)}, ${format.size(bytes)}: ${text.join(", ")}`];
  });
}

function crossovers(fast: SweepEngine, fastName: string, slow: SweepEngine, slowName: string): string[] {
  return (["compress", "decompress"] as const).map((way) => {
    const bytes = crossoverOf(points, way, fast, slow);
    const verb = way === "compress" ? "Compressing" : "Decompressing";
    if (bytes === null) return `${verb}: ${slowName} is faster at every size measured`;
    if (bytes === 0) return `${verb}: ${fastName} is faster at every size measured`;
    return `${verb}: ${fastName} is faster from about ${format.size(bytes)}`;
  });
}

/** Returns the choices of "auto", one line per range of sizes with the same choice. */
function autoLines({ picks }: SweepResult): string[] {
  const lines: string[] = [];
  for (let i = 0; i < picks.length; ) {
    const first = picks[i];
    if (!first) break;
    let end = i + 1;
    while (picks[end]?.engine === first.engine && picks[end]?.reason === first.reason) end += 1;
    const last = picks[end - 1];
    const sizes = first === last ? format.size(first.bytes) : `${format.size(first.bytes)} to ${format.size(last?.bytes ?? 0)}`;
    lines.push(`Automatic, ${sizes}: ${nameOf(first.engine)}, ${first.reason}`);
    i = end;
  }
  return lines;
}

function start(): void {
  const mostBytes = 2 ** Number(element<HTMLSelectElement>("sweep-most").value);
  points = [];
  element("sweep-text").replaceChildren();
  const nSizes = Math.log2(mostBytes / 4096) / 2 + 1;
  void runJob(
    "Speed by size",
    async ({ signal, report }) => {
      const onProgress = (point: SweepPoint): void => {
        points.push(point);
        const sizes = new Set(points.map(({ bytes }) => bytes)).size;
        report(`${nameOf(point.engine)}, ${format.size(point.bytes)}`, sizes / nSizes);
        void draw();
      };
      const argument = { file: currentSubject()?.blob ?? null, mostBytes, allowSoftware: allowsSoftware() };
      const result = await press.call("sweep", argument, { signal, onProgress });
      showText(result);
      const crossover = { compress: crossoverOf(points, "compress"), decompress: crossoverOf(points, "decompress") };
      record({ kind: "sweep", mostBytes, crossover, ...result });
    },
    (failure) => element("sweep-text").replaceChildren(failureCard(failure)),
  );
}

export function initSweep(): void {
  element("sweep-start").addEventListener("click", start);
  element("sweep-way").addEventListener("change", () => void draw());
  onThemeOrWidth(element("sweep-chart"), () => void draw());
}
