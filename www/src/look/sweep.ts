// The sweep: both engines over a range of sizes, their crossover, and the choice of "auto".
import type { Engine } from "pagepress";
import type { SweepPoint, SweepResult } from "../press/calls";
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
const nameOf = (engine: Engine): string => (engine === "webgpu" ? "GPU" : "CPU");

/** Draws the points measured so far. The plotting library is loaded on first use. */
async function draw(): Promise<void> {
  if (points.length === 0) return;
  const { drawChart } = await import("./chart");
  drawChart(element("sweep-chart"), points, chosenWay());
}

function showText(result: SweepResult): void {
  const lines = [
    ...(result.withoutGpu ? [`No GPU: ${result.withoutGpu}`] : crossovers()),
    ...autoLines(result),
    ...result.stopped.map(({ engine, bytes }) => `${nameOf(engine)}: sizes above ${format.size(bytes)} skipped, too slow`),
  ];
  element("sweep-text").replaceChildren(...lines.map((line) => make("li", "", line)));
}

function crossovers(): string[] {
  return (["compress", "decompress"] as const).map((way) => {
    const bytes = crossoverOf(points, way);
    const verb = way === "compress" ? "Compressing" : "Decompressing";
    if (bytes === null) return `${verb}: the CPU is faster at every size measured`;
    if (bytes === 0) return `${verb}: the GPU is faster at every size measured`;
    return `${verb}: the GPU is faster from about ${format.size(bytes)}`;
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
    "Sweep of sizes",
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
