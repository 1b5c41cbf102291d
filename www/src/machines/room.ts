// The table of measured machines, with the bar of this one after a race.
import { newestRace, onRace } from "../race/panel";
import { megabytesPerSecond } from "../measure/stats";
import { engines } from "../engines/list";
import type { RaceResult } from "../race/race";
import { make } from "../shell/dom";
import * as format from "../shell/format";

/** Speeds in MB/s of uncompressed bytes. */
interface Machine {
  machine: string;
  engine: string;
  family: "gpu" | "cpu" | "peer";
  compress: number;
  decompress: number;
}

declare const __MACHINES__: Machine[];

/** Returns the fastest engine of Pagepress in a race on this machine. */
function thisMachine(result: RaceResult): Machine | null {
  const found = engines.flatMap(({ id, name, family }) => {
    const outcome = result.engines[id];
    if (family === "peer" || !outcome || "failure" in outcome || !outcome.compress) return [];
    const [compress, decompress] = [outcome.compress, outcome.decompress].map(({ median }) => megabytesPerSecond(outcome.inputBytes, median) ?? 0);
    return [{ machine: "This machine", engine: name, family, compress: compress ?? 0, decompress: decompress ?? 0 }];
  });
  return found.sort((a, b) => b.compress - a.compress)[0] ?? null;
}

function cell(speed: number, most: number): HTMLElement {
  const fill = make("i", "fill");
  fill.style.transform = `scaleX(${speed / most})`;
  const track = make("div", "track", fill);
  track.ariaHidden = "true";
  return make("td", "metric", track, make("strong", "", format.speed(speed * 1000, 1) ?? "–"));
}

function draw(at: HTMLElement): void {
  const result = newestRace();
  const mine = result && thisMachine(result);
  const all = [...(mine ? [mine] : []), ...__MACHINES__].sort((a, b) => b.compress - a.compress);
  const most = { compress: Math.max(...all.map((one) => one.compress)), decompress: Math.max(...all.map((one) => one.decompress)) };
  const lines = all.map((one) => {
    const head = make("th", "", make("strong", "", one.machine), make("span", "machine-engine", one.engine));
    head.scope = "row";
    const line = make("tr", one === mine ? "mine" : "", head, cell(one.compress, most.compress), cell(one.decompress, most.decompress));
    line.dataset["family"] = one.family;
    return line;
  });
  at.replaceChildren(...lines);
}

export function mount(at: HTMLElement): void {
  const heads = ["Machine", "Compress", "Decompress"].map((text) => {
    const head = make("th", "", text);
    head.scope = "col";
    return head;
  });
  const rows = make("tbody");
  rows.id = "machines-rows";
  at.replaceChildren(
    make("h2", "", "Measured machines"),
    make("p", "soft", "Memory pages of 64 MiB in Chromium, from benches/results; this machine with the bytes of its race."),
    make("table", "engines machines", make("thead", "", make("tr", "", ...heads)), rows),
  );
  draw(rows);
  onRace(() => draw(rows));
}
