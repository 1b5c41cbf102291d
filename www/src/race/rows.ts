// The table of the race: one row per engine, with bars that are updated after each round.
import type { EngineId } from "../engines/calls";
import { engines, type EngineEntry } from "../engines/list";
import { megabytesPerSecond, type Spread } from "../measure/stats";
import type { Failure } from "../rpc/messages";
import { absence } from "../shell/absence";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { spreadsOf, type Measured } from "./race";

type State = "idle" | "waiting" | "running" | "done" | "absent" | "failed" | "cancelled";
type Way = "compress" | "decompress";
/** The part of a result that is known after each round. */
type SoFar = Pick<Measured, "runs" | "outputBytes" | "verified">;

interface Metric {
  bar: HTMLElement;
  whisker: HTMLElement;
  value: HTMLElement;
  sub: HTMLElement;
  /** Throughput in MB/s: of the median, the best and the worst round; 0 before the first. */
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

  showRounds(bytes: number, { runs, outputBytes, verified }: SoFar): void {
    const { compress, decompress } = spreadsOf(runs);
    if (compress) showMetric(this.metrics.compress, bytes, compress);
    showMetric(this.metrics.decompress, bytes, decompress);
    const check = make("span", verified ? "sub verified" : "sub wrong", verified ? "verified" : "wrong bytes");
    this.#ratio.replaceChildren(make("strong", "", format.ratio(bytes / outputBytes)), check);
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
  metric.speed = megabytesPerSecond(bytes, median) ?? 0;
  metric.fastest = megabytesPerSecond(bytes, least) ?? 0;
  metric.slowest = megabytesPerSecond(bytes, most) ?? 0;
  metric.value.textContent = format.speed(bytes, median) ?? "–";
  metric.sub.textContent = `best ${format.speed(bytes, least) ?? "–"}`;
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

  /** Shows the rounds of an engine so far. */
  runs(id: EngineId, bytes: number, result: SoFar): void {
    const row = this.#of(id);
    row.state = "waiting";
    row.showDetail(format.plural(result.runs.length, "round"));
    row.showRounds(bytes, result);
    this.#scale();
  }

  /** Describes an engine after `rounds` rounds, and says so if it ran fewer. */
  done(id: EngineId, { detail, runs }: Measured, rounds: number): void {
    this.#of(id).state = "done";
    this.#of(id).showDetail(runs.length < rounds ? `${detail}; ${format.plural(runs.length, "round")}` : detail);
  }

  /** Shows why an engine has no result. A missing GPU is not shown as a failure. */
  failed(id: EngineId, { code, message }: Failure): void {
    const isAbsent = code === "BACKEND_UNAVAILABLE";
    const row = this.#of(id);
    row.reset(isAbsent ? "absent" : "failed");
    row.showDetail(isAbsent ? absence(message) : `${code}: ${message}`);
  }

  /** Marks waiting and running rows as cancelled. */
  cancelled(): void {
    for (const row of this.#rows.values()) {
      const { state } = row.line.dataset;
      if (state !== "waiting" && state !== "running") continue;
      row.state = "cancelled";
      row.showDetail("cancelled");
    }
  }

  #of(id: EngineId): Row {
    return this.#rows.get(id) as Row;
  }

  /** Scales the bars of a column to its fastest round. */
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
