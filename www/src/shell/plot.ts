// Draws line charts with two logarithmic axes.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour } from "./theme";

const HEIGHT = 300;

export interface Line {
  label: string;
  /** Name of a colour of the style sheet. */
  colour: string;
  /** One value per x value; null where nothing was measured. */
  values: (number | null)[];
}

export interface Lines {
  /** Name of the x axis in the legend. */
  title: string;
  /** The x values in ascending order. */
  xValues: number[];
  lines: Line[];
  formatX: (x: number) => string;
  formatY: (value: number) => string;
  /** An x value to mark with a vertical line. */
  mark?: number | null;
}

/** Returns the width in pixels that the longest label of the y axis needs. */
const widthOf = (_: uPlot, names: string[] | null): number => 20 + 7 * Math.max(0, ...(names ?? []).map(({ length }) => length));

const charts = new WeakMap<HTMLElement, uPlot>();

/** Returns a plugin that draws a dashed vertical line at an x value. */
function verticalLine(at: number | null | undefined): uPlot.Plugin {
  return {
    hooks: {
      draw(plot) {
        if (!at) return;
        const x = plot.valToPos(at, "x", true);
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

/** Draws a chart into `at` and destroys the previous one. */
export function drawLines(at: HTMLElement, { title, xValues, lines, formatX, formatY, mark }: Lines): void {
  const [ink, line] = [colour("soft"), colour("line")];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const orDash = (value: number | null, name: (value: number) => string): string => (value === null ? "–" : name(value));
  const series = (one: Line): uPlot.Series => ({
    label: one.label,
    stroke: colour(one.colour),
    width: 2,
    points: { show: true, size: 7, fill: colour("paper"), width: 2 },
    value: (_, value) => orDash(value, formatY),
  });
  const isNarrow = at.clientWidth < 600;
  const labels = { rotate: isNarrow ? -60 : 0, size: isNarrow ? 76 : 40 };
  charts.get(at)?.destroy();
  const chart = new uPlot(
    {
      width: at.clientWidth,
      height: HEIGHT,
      padding: [8, 24, 0, 0],
      scales: { x: { time: false, distr: 3, log: 2 }, y: { distr: 3, log: 10 } },
      axes: [
        { ...axis, ...labels, splits: () => xValues, filter: (_, splits) => splits, values: (_, splits) => splits.map(formatX) },
        { ...axis, size: widthOf, values: (_, splits) => splits.map((value) => (Number.isInteger(Math.log10(value)) ? formatY(value) : "")) },
      ],
      series: [{ label: title, value: (_, x) => orDash(x, formatX) }, ...lines.map(series)],
      plugins: [verticalLine(mark)],
    },
    [xValues, ...lines.map(({ values }) => values)],
    at,
  );
  charts.set(at, chart);
}
