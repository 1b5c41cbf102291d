// Shows the speed and the error of matrix products over a range of sizes.
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { allowsSoftware } from "../shell/press";
import { onThemeOrWidth } from "../shell/redraw";
import { record } from "../shell/results";
import type { MatmulPoint, MatmulResult, Multiplier } from "./calls";
import { tensors } from "./client";

const ENGINES: { id: Multiplier; label: string; colour: string }[] = [
  { id: "webgpu", label: "GPU", colour: "gpu" },
  { id: "javascript", label: "JavaScript", colour: "cpu" },
];

let points: MatmulPoint[] = [];

const labelOf = (engine: Multiplier): string => ENGINES.find(({ id }) => id === engine)?.label ?? engine;
const sizes = (): number[] => [...new Set(points.map(({ size }) => size))].sort((a, b) => a - b);
const at = (engine: Multiplier, size: number): MatmulPoint | undefined =>
  points.find((one) => one.engine === engine && one.size === size);
const nameOfSpeed = (gflops: number): string =>
  gflops >= 1000 ? `${format.round(gflops / 1000)} TFLOP/s` : `${format.round(gflops)} GFLOP/s`;

/** Draws the chart. The plotting library is loaded on first use. */
async function draw(): Promise<void> {
  if (points.length === 0) return;
  const { drawLines } = await import("../shell/plot");
  const xValues = sizes();
  const engines = ENGINES.filter(({ id }) => points.some(({ engine }) => engine === id));
  const chart = element("matmul-chart");
  drawLines(chart, {
    title: "Rows and columns",
    xValues,
    lines: engines.map(({ id, label, colour }) => ({
      label,
      colour,
      values: xValues.map((size) => at(id, size)?.gflops ?? null),
    })),
    formatX: String,
    formatY: nameOfSpeed,
  });
  chart.ariaLabel = "Speed of matrix products by size; the table below has the same results";
}

function fillTable(): void {
  const cell = (point: MatmulPoint | undefined): string =>
    point ? `${nameOfSpeed(point.gflops)}, ${format.duration(point.milliseconds)}` : "–";
  const error = (point: MatmulPoint | undefined): string => (point ? point.error.toExponential(1) : "–");
  const rows = sizes().map((size) => {
    const [gpu, javascript] = [at("webgpu", size), at("javascript", size)];
    const times = gpu && javascript ? `${format.round(gpu.gflops / javascript.gflops)} ×` : "–";
    const texts = [cell(gpu), cell(javascript), times, error(gpu ?? javascript)];
    return make("tr", "", make("th", "", `${size}`), ...texts.map((text) => make("td", "", text)));
  });
  for (const row of rows) (row.firstElementChild as HTMLTableCellElement).scope = "row";
  element("matmul-rows").replaceChildren(...rows);
}

function showText({ device, withoutGpu, stopped }: MatmulResult): void {
  const lines = [
    device ? `On ${device}, with pagepress/tensor; all three matrices in GPU memory.` : `No GPU: ${withoutGpu}`,
    ...stopped.map(({ engine, size }) => `${labelOf(engine)}: sizes above ${size} skipped, too slow`),
  ];
  element("matmul-text").replaceChildren(...lines.map((line) => make("li", "", line)));
}

function start(): void {
  void runJob(
    "Matrix products",
    async ({ signal, report }) => {
      points = [];
      const mostSize = Number(element<HTMLSelectElement>("matmul-most").value);
      const onProgress = (point: MatmulPoint): void => {
        points.push(point);
        fillTable();
        void draw();
        report(`${labelOf(point.engine)}, ${point.size} rows`, null);
      };
      report("opening the device", null);
      const result = await tensors.call("matmul", { mostSize, allowSoftware: allowsSoftware() }, { signal, onProgress });
      showText(result);
      record({ kind: "matmul", mostSize, ...result });
    },
    (failure) => element("matmul-text").replaceChildren(failureCard(failure)),
  );
}

export function initMatmul(): void {
  element("matmul-start").addEventListener("click", start);
  onThemeOrWidth(element("matmul-chart"), () => void draw());
}
