// Draws the result of a race as a picture of the size that other sites show for a link.
import { engines } from "../engines/list";
import { megabytesPerSecond } from "../measure/stats";
import { factorsOf, factorText } from "../race/headline";
import { raceInput, type RaceResult } from "../race/race";
import * as format from "../shell/format";
import { optionsText } from "../shell/press";
import { colour } from "../shell/theme";

const [WIDTH, HEIGHT, MARGIN] = [1200, 630, 56];
const ROW = 44;
const FAMILY = { gpu: "gpu", cpu: "cpu", peer: "peer" } as const;

/** Returns the picture as a PNG file. */
export async function drawCard(race: RaceResult): Promise<Blob> {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser offers no canvas to draw on");
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.textBaseline = "alphabetic";
  const text = (value: string, x: number, y: number, font: string, name: string): void => {
    context.font = `${font} system-ui, sans-serif`;
    context.fillStyle = colour(name);
    context.fillText(value, x, y, WIDTH - MARGIN - x);
  };
  const [factor] = factorsOf(race.engines);
  text("Pagepress", MARGIN, 84, "600 40px", "ink");
  if (factor) {
    text(`${format.three(factor.factor)} ×`, MARGIN, 170, "700 76px", "gpu");
    text(factorText(factor), MARGIN, 206, "24px", "soft");
  }
  drawBars(context, race, text);
  const gpu = window.__backend && "adapter" in window.__backend ? window.__backend.adapter : null;
  const machine = [format.plural(navigator.hardwareConcurrency, "core"), ...(gpu ? [gpu] : [])].join(", ");
  text(`${raceInput(race)}; ${optionsText(race)}; ${machine}`, MARGIN, HEIGHT - 34, "20px", "soft");
  return canvas.convertToBlob({ type: "image/png" });
}

type Text = (value: string, x: number, y: number, font: string, name: string) => void;

function drawBars(context: OffscreenCanvasRenderingContext2D, race: RaceResult, text: Text): void {
  const rows = engines.flatMap(({ id, name, family }) => {
    const outcome = race.engines[id];
    if (!outcome || "failure" in outcome) return [];
    const speed = (time: number | undefined): number => (time ? (megabytesPerSecond(outcome.inputBytes, time) ?? 0) : 0);
    return [{ name, family, compress: speed(outcome.compress?.median), decompress: speed(outcome.decompress.median) }];
  });
  const columns = [
    { way: "compress", x: 400 },
    { way: "decompress", x: 800 },
  ] as const;
  const width = 200;
  for (const { way, x } of columns) {
    const most = Math.max(...rows.map((row) => row[way]), 1);
    text(way === "compress" ? "Compress" : "Decompress", x, 244, "20px", "soft");
    rows.forEach((row, i) => {
      const y = 258 + i * ROW;
      context.fillStyle = colour("track");
      context.fillRect(x, y, width, 20);
      context.fillStyle = colour(FAMILY[row.family]);
      context.fillRect(x, y, (width * row[way]) / most, 20);
      text(row[way] > 0 ? (format.speed(row[way] * 1000, 1) ?? "–") : "–", x + width + 14, y + 17, "20px", "ink");
    });
  }
  rows.forEach((row, i) => text(row.name, MARGIN, 258 + i * ROW + 17, "20px", "ink"));
}
