// Draws the chart of a sweep: throughput over size.
import type { SweepPoint } from "../press/calls";
import * as format from "../shell/format";
import { drawLines } from "../shell/plot";
import { crossoverOf, timeOf, type Way } from "./crossover";

const ENGINES = [
  { id: "webgpu", label: "GPU", colour: "gpu" },
  { id: "cpu", label: "CPU", colour: "cpu" },
  { id: "one", label: "CPU, one thread", colour: "peer" },
] as const;

/** Returns the throughput of an engine at each size in MB/s; null where it was not measured. */
function speeds(points: SweepPoint[], sizes: number[], engine: string, way: Way): (number | null)[] {
  return sizes.map((bytes) => {
    const point = points.find((one) => one.engine === engine && one.bytes === bytes);
    return point ? bytes / 1e3 / timeOf(point, way) : null;
  });
}

/** Draws the chart into `at`. */
export function drawChart(at: HTMLElement, points: SweepPoint[], way: Way): void {
  const sizes = [...new Set(points.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  const engines = ENGINES.filter(({ id }) => points.some((point) => point.engine === id));
  drawLines(at, {
    title: "Size",
    xValues: sizes,
    lines: engines.map(({ id, label, colour }) => ({ label, colour, values: speeds(points, sizes, id, way) })),
    formatX: format.size,
    formatY: (value) => format.speed(value * 1e3, 1) ?? "–",
    mark: crossoverOf(points, way),
  });
  at.ariaLabel = `Speed by size, ${way}; the list below has the results as text`;
}
