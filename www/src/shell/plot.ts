// A chart of lines, both scales logarithmic.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour } from "./theme";

const HEIGHT = 300;

export interface Line {
  label: string;
  /** A colour of the style sheet. */
  colour: string;
  /** A value for each place; null where nothing was measured. */
  values: (number | null)[];
}

export interface Lines {
  /** What the places are, for the legend. */
  title: string;
  /** Where the values are, the least first. */
  places: number[];
  lines: Line[];
  nameOfPlace: (place: number) => string;
  nameOfValue: (value: number) => string;
  /** A place to mark by a line down. */
  mark?: number | null;
}

/** As wide as the longest name needs. */
const widthOf = (_: uPlot, names: string[] | null): number => 20 + 7 * Math.max(0, ...(names ?? []).map(({ length }) => length));

const charts = new WeakMap<HTMLElement, uPlot>();

/** A line down, dashed. */
function downLine(place: number | null | undefined): uPlot.Plugin {
  return {
    hooks: {
      draw(plot) {
        if (!place) return;
        const x = plot.valToPos(place, "x", true);
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
export function drawLines(at: HTMLElement, { title, places, lines, nameOfPlace, nameOfValue, mark }: Lines): void {
  const [ink, line] = [colour("soft"), colour("line")];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const orDash = (value: number | null, name: (value: number) => string): string => (value === null ? "–" : name(value));
  const series = (one: Line): uPlot.Series => ({
    label: one.label,
    stroke: colour(one.colour),
    width: 2,
    points: { show: true, size: 7, fill: colour("paper"), width: 2 },
    value: (_, value) => orDash(value, nameOfValue),
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
        { ...axis, ...labels, splits: () => places, filter: (_, splits) => splits, values: (_, splits) => splits.map(nameOfPlace) },
        { ...axis, size: widthOf, values: (_, splits) => splits.map((value) => (Number.isInteger(Math.log10(value)) ? nameOfValue(value) : "")) },
      ],
      series: [{ label: title, value: (_, place) => orDash(place, nameOfPlace) }, ...lines.map(series)],
      plugins: [downLine(mark)],
    },
    [places, ...lines.map(({ values }) => values)],
    at,
  );
  charts.set(at, chart);
}
