// Shows the speed and the error of matrix products over a range of sizes.
import { element, failureCard, labelledRow, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { onThemeOrWidth } from "../shell/redraw";
import { record } from "../shell/results";
import type { TensorEngine } from "./calls";
import { ENGINES, measureEach, openEngines, type Opened, type TensorResult } from "./racers";
import { showAbsent } from "./absent";

const LEAST_SIZE = 64;
/** Larger sizes, which take eight times as long, are skipped for an engine whose product would take longer. */
const LONGEST_MS = 4000;

/** The rounds of an engine at one size. */
export interface ProductPoint extends TensorResult {
  size: number;
  gflops: number;
  bestGflops: number;
}

/** The result of the comparison. */
export interface ProductResult extends Opened {
  points: ProductPoint[];
  stopped: { engine: TensorEngine; size: number }[];
}

const HEADS = ["Rows", "Engine", "Median", "Best", "Time", "Error"];

let points: ProductPoint[] = [];

const labelOf = (engine: TensorEngine): string => ENGINES.find(({ id }) => id === engine)?.label ?? engine;
const sizes = (): number[] => [...new Set(points.map(({ size }) => size))].sort((a, b) => a - b);
const at = (engine: TensorEngine, size: number): ProductPoint | undefined =>
  points.find((one) => one.engine === engine && one.size === size);

/** Formats a speed, for example `1.23 TFLOP/s`. */
export function formatFlops(gflops: number): string {
  return gflops >= 999.5 ? `${format.three(gflops / 1000)} TFLOP/s` : `${format.three(gflops)} GFLOP/s`;
}

/** Draws the chart. The plotting library is loaded on first use. */
async function draw(): Promise<void> {
  if (points.length === 0) return;
  const { drawLines } = await import("../shell/plot");
  const xValues = sizes();
  const chart = element("matmul-chart");
  drawLines(chart, {
    title: "Rows and columns",
    xValues,
    lines: ENGINES.filter(({ id }) => points.some(({ engine }) => engine === id)).map(({ id, label, colour }) => ({
      label,
      colour,
      values: xValues.map((size) => at(id, size)?.gflops ?? null),
    })),
    formatX: String,
    formatY: formatFlops,
  });
  chart.ariaLabel = "Speed of matrix products by size; the table below has the same results";
}

function fillTable(): void {
  const rows = sizes().flatMap((size) =>
    ENGINES.flatMap(({ id, label }) => {
      const point = at(id, size);
      if (!point) return [];
      const cells = [`${size}`, label, formatFlops(point.gflops), formatFlops(point.bestGflops), format.duration(point.times.median), format.error(point.error)];
      return [labelledRow(HEADS, cells)];
    }),
  );
  element("matmul-rows").replaceChildren(...rows);
}

function showText({ names, absent, stopped }: ProductResult): void {
  const lines = [
    ...Object.entries(names).flatMap(([engine, name]) => (engine === "cpu" ? [] : [`${labelOf(engine as TensorEngine)}: ${name}`])),
    ...stopped.map(({ engine, size }) => `${labelOf(engine)}: sizes above ${size} skipped, too slow`),
  ];
  element("matmul-text").replaceChildren(...showAbsent(absent), ...lines.map((line) => make("li", "", line)));
}

async function compare({ signal, report }: JobControl): Promise<ProductResult> {
  points = [];
  report("opening the engines", null);
  const mostSize = Number(element<HTMLSelectElement>("matmul-most").value);
  const withTfjs = element<HTMLInputElement>("matmul-tfjs").checked;
  const opened = await openEngines(["webgpu", "cpu", ...(withTfjs ? (["tfjs"] as const) : [])], signal);
  const result: ProductResult = { points, stopped: [], ...opened };
  for (let size = LEAST_SIZE; size <= mostSize; size *= 2) {
    const going = (Object.keys(opened.names) as TensorEngine[]).filter((one) => !result.stopped.some(({ engine }) => engine === one));
    const measured = await measureEach(
      going,
      (client) => client.call("product", { size }, { signal }),
      (engine) => report(`${labelOf(engine)}, ${size} rows`, null),
    );
    for (const one of measured) {
      const flops = (2 * size ** 3) / 1e6;
      points.push({ ...one, size, gflops: flops / one.times.median, bestGflops: flops / one.times.least });
      if (one.times.median * 8 > LONGEST_MS) result.stopped.push({ engine: one.engine, size });
    }
    fillTable();
    void draw();
  }
  return result;
}

function start(): void {
  void runJob(
    "Matrix products",
    async (control) => {
      const result = await compare(control);
      showText(result);
      record({ kind: "matmul", ...result });
    },
    (failure) => element("matmul-text").replaceChildren(failureCard(failure)),
  );
}

export function initMatmul(): void {
  element("matmul-start").addEventListener("click", start);
  onThemeOrWidth(element("matmul-chart"), () => void draw());
}
