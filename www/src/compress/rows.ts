// The benchmark table: one row per engine, with bars that are updated after each run.
import type { BenchResult, EngineId, Run, Warm } from "../engines/calls";
import { engines, type EngineEntry } from "../engines/list";
import type { Failure } from "../rpc/messages";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { megabytesPerSecond, spreadsOf, type Spread } from "./stats";

type State = "idle" | "waiting" | "running" | "done" | "absent" | "failed" | "cancelled";
type Way = "compress" | "decompress";

interface Metric {
  bar: HTMLElement;
  whisker: HTMLElement;
  value: HTMLElement;
  sub: HTMLElement;
  /** Throughput in MB/s; 0 before the first run. */
  speed: number;
  fastest: number;
  slowest: number;
}

/** The row of an engine. */
class Row {
  readonly entry: EngineEntry;
  readonly line = make("tr");
  readonly chosen = make("input");
  readonly #detail = make("span", "detail");
  readonly #ratio = make("td", "ratio");
  readonly metrics: Record<Way, Metric> = { compress: newMetric(), decompress: newMetric() };

  constructor(entry: EngineEntry) {
    this.entry = entry;
    this.chosen.type = "checkbox";
    this.chosen.checked = true;
    const label = make("label", "", this.chosen, make("span", "", entry.name));
    const head = make("th", "", label, this.#detail);
    head.scope = "row";
    this.line.dataset["family"] = entry.family;
    this.line.dataset["engine"] = entry.id;
    this.line.append(head, cellOf(this.metrics.compress), cellOf(this.metrics.decompress), this.#ratio);
    this.reset("idle");
  }

  set state(state: State) {
    this.line.dataset["state"] = state;
  }

  reset(state: State): void {
    this.state = state;
    this.#detail.textContent = state === "waiting" ? "waiting" : "\u00a0";
    this.#ratio.replaceChildren("–");
    for (const metric of Object.values(this.metrics)) {
      Object.assign(metric, { speed: 0, fastest: 0, slowest: 0 });
      metric.value.textContent = "–";
      metric.sub.textContent = "\u00a0";
    }
  }

  showDetail(text: string): void {
    this.#detail.textContent = text;
  }

  showWarm(warm: Warm): void {
    this.showDetail(`warmed up in ${format.duration(warm.startMs + warm.compressMs + warm.decompressMs)}`);
  }

  showRuns(bytes: number, runs: Run[]): void {
    const spreads = spreadsOf(runs);
    showMetric(this.metrics.compress, bytes, spreads.compress);
    showMetric(this.metrics.decompress, bytes, spreads.decompress);
  }

  showResult({ detail, inputBytes, outputBytes, warm, runs, verified }: BenchResult): void {
    const warmUp = format.duration(warm.startMs + warm.compressMs + warm.decompressMs);
    this.showDetail(`${detail}. ${runs.length} ${runs.length === 1 ? "run" : "runs"}, warm-up ${warmUp}`);
    const check = verified ? "verified" : "wrong bytes!";
    this.#ratio.replaceChildren(
      make("strong", "", format.ratio(inputBytes / outputBytes)),
      make("span", "sub", format.size(outputBytes)),
      make("span", verified ? "sub verified" : "sub wrong", check),
    );
  }
}

function newMetric(): Metric {
  const [bar, whisker] = [make("i", "fill"), make("i", "whisker")];
  const [value, sub] = [make("strong", "", "–"), make("span", "sub", "\u00a0")];
  return { bar, whisker, value, sub, speed: 0, fastest: 0, slowest: 0 };
}

function cellOf({ bar, whisker, value, sub }: Metric): HTMLElement {
  const track = make("div", "track", bar, whisker);
  track.ariaHidden = "true";
  return make("td", "metric", track, value, sub);
}

function showMetric(metric: Metric, bytes: number, { median, least, most }: Spread): void {
  const speed = megabytesPerSecond(bytes, median);
  metric.speed = speed ?? 0;
  metric.fastest = megabytesPerSecond(bytes, least) ?? 0;
  metric.slowest = megabytesPerSecond(bytes, most) ?? 0;
  metric.value.textContent = format.speed(bytes, median) ?? "too fast to measure";
  const range = least === most ? "" : ` (${format.duration(least)} to ${format.duration(most)})`;
  metric.sub.textContent = `${format.duration(median)}${range}`;
}

/** All rows of the table. */
export class Rows {
  readonly #rows = new Map<EngineId, Row>();

  constructor() {
    for (const entry of engines) this.#rows.set(entry.id, new Row(entry));
    element("rows").replaceChildren(...[...this.#rows.values()].map(({ line }) => line));
  }

  /** Returns the selected engines. */
  chosen(): EngineId[] {
    return [...this.#rows.values()].filter(({ chosen }) => chosen.checked).map(({ entry }) => entry.id);
  }

  reset(chosen: EngineId[]): void {
    for (const [id, row] of this.#rows) row.reset(chosen.includes(id) ? "waiting" : "idle");
    this.#scale();
  }

  running(id: EngineId, text: string): void {
    this.#of(id).state = "running";
    this.#of(id).showDetail(text);
  }

  warm(id: EngineId, warm: Warm): void {
    this.#of(id).showWarm(warm);
  }

  runs(id: EngineId, bytes: number, runs: Run[]): void {
    this.#of(id).showRuns(bytes, runs);
    this.#scale();
  }

  done(id: EngineId, result: BenchResult): void {
    this.#of(id).state = "done";
    this.#of(id).showResult(result);
  }

  /** Shows why an engine has no result. A missing GPU is not shown as a failure. */
  failed(id: EngineId, { code, message }: Failure): void {
    const isAbsent = code === "BACKEND_UNAVAILABLE";
    const row = this.#of(id);
    row.reset(isAbsent ? "absent" : "failed");
    row.showDetail(isAbsent ? message.replace("backend webgpu is not available: ", "Not available: ") : `${code}: ${message}`);
  }

  /** Marks waiting and running rows as cancelled. */
  cancelled(): void {
    for (const { line } of this.#rows.values()) {
      if (line.dataset["state"] === "waiting" || line.dataset["state"] === "running") {
        line.dataset["state"] = "cancelled";
        (line.querySelector(".detail") as HTMLElement).textContent = "cancelled";
      }
    }
  }

  #of(id: EngineId): Row {
    return this.#rows.get(id) as Row;
  }

  /** Scales the bars of a column to its fastest run. */
  #scale(): void {
    for (const way of ["compress", "decompress"] as const) {
      const metrics = [...this.#rows.values()].map((row) => row.metrics[way]);
      const most = Math.max(...metrics.map(({ speed, fastest }) => Math.max(speed, fastest)), 1e-9);
      for (const { bar, whisker, speed, fastest, slowest } of metrics) {
        bar.style.transform = `scaleX(${speed / most})`;
        whisker.style.left = `${(100 * slowest) / most}%`;
        whisker.style.width = `${(100 * (fastest - slowest)) / most}%`;
      }
    }
  }
}
