// The chart of a sweep: speed over size, both logarithmic.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { SweepPoint } from "../press/calls";
import * as format from "../shell/format";
import { colour } from "../shell/theme";
import { crossoverOf, timeOf, type Way } from "./crossover";

const HEIGHT = 300;
const ENGINES = [
  { id: "webgpu", label: "GPU", name: "gpu" },
  { id: "cpu", label: "CPU", name: "cpu" },
] as const;

let chart: uPlot | null = null;

/** Megabytes a second of one engine at each size; null where it was not measured. */
function speeds(points: SweepPoint[], sizes: number[], engine: string, way: Way): (number | null)[] {
  return sizes.map((bytes) => {
    const point = points.find((one) => one.engine === engine && one.bytes === bytes);
    return point ? bytes / 1e3 / timeOf(point, way) : null;
  });
}

/** A line down where the engines are equally fast. */
function crossoverMark(bytes: number | null): uPlot.Plugin {
  return {
    hooks: {
      draw(plot) {
        if (!bytes) return;
        const x = plot.valToPos(bytes, "x", true);
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.strokeStyle = colour("ink");
        ctx.setLineDash([4, 4]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.restore();
      },
    },
  };
}

/** Draws into `at`, in place of what was there. */
export function drawChart(at: HTMLElement, points: SweepPoint[], way: Way): void {
  const sizes = [...new Set(points.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  const [ink, line] = [colour("soft"), colour("line")];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const speed = (value: number | null): string => (value === null ? "–" : (format.speed(value * 1e3, 1) ?? "–"));
  const engine = (label: string, name: string): uPlot.Series => ({
    label,
    stroke: colour(name),
    width: 2,
    points: { show: true, size: 7, fill: colour("paper"), width: 2 },
    value: (_, value) => speed(value),
  });
  const engines = ENGINES.filter(({ id }) => points.some((point) => point.engine === id));
  const isNarrow = at.clientWidth < 600;
  const labels = { rotate: isNarrow ? -60 : 0, size: isNarrow ? 76 : 40 };
  chart?.destroy();
  chart = new uPlot(
    {
      width: at.clientWidth,
      height: HEIGHT,
      padding: [8, 24, 0, 0],
      scales: { x: { time: false, distr: 3, log: 2 }, y: { distr: 3, log: 10 } },
      axes: [
        { ...axis, ...labels, splits: () => sizes, filter: (_, splits) => splits, values: (_, splits) => splits.map((bytes) => format.size(bytes)) },
        { ...axis, size: 76, values: (_, splits) => splits.map((value) => (Number.isInteger(Math.log10(value)) ? speed(value) : "")) },
      ],
      series: [
        { label: "Size", value: (_, bytes) => (bytes === null ? "–" : format.size(bytes)) },
        ...engines.map(({ label, name }) => engine(label, name)),
      ],
      plugins: [crossoverMark(crossoverOf(points, way))],
    },
    [sizes, ...engines.map(({ id }) => speeds(points, sizes, id, way))],
    at,
  );
  at.ariaLabel = `Speed of GPU and CPU over size, ${way}: the list below says the same`;
}
