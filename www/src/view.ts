// Puts results into the document.
import * as format from "./format";
import type { Backend, Compressed, CompressChoice, Decompressed, Failure, Gzipped } from "./messages";

/** The element of the page with this id; the page and this code ship together, so it is there. */
export function element<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

type Child = Node | string;

/** A new element. */
function make(tag: string, className: string, ...children: Child[]): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Name of an engine. */
function engineName(engine: Backend["engine"], software: boolean): string {
  if (engine === "cpu") return "CPU";
  return software ? "WebGPU in software" : "WebGPU";
}

/** Name of the engine that ran a call: in automatic mode it is chosen for each. */
function engineOf({ backend, timing }: Compressed | Decompressed): string {
  return engineName(timing?.engine ?? backend.engine, backend.software);
}

/** Says which engine runs, on what, and why. */
export function showBackend(backend: Backend): void {
  const { engine, adapter, software, reason, rejected } = backend;
  element("badge").dataset["state"] = software ? "software" : engine;
  element("badge-engine").textContent = engineName(engine, software);
  element("badge-adapter").textContent = adapter ?? "";
  element("badge-reason").textContent = reason;
  element("rejected").hidden = rejected.length === 0;
  const items = rejected.map(({ candidate, reason }) => make("li", "", `${candidate}: ${reason}`));
  element("rejected-list").replaceChildren(...items);
}

/** Says that no engine could be opened, and why. */
export function showNoBackend({ code, message }: Failure): void {
  element("badge").dataset["state"] = "failed";
  element("badge-engine").textContent = "No engine";
  element("badge-adapter").textContent = code;
  element("badge-reason").textContent = message;
  element("rejected").hidden = true;
}

/** Shows what is going on; null when nothing is. */
export function showProgress(text: string | null): void {
  element("progress").hidden = text === null;
  element("stage").textContent = text ?? "";
}

function addCard(card: HTMLElement): void {
  element("results").prepend(card);
}

function head(title: string, sizes: Child[], outputName: string, output: Blob): HTMLElement {
  const link = make("a", "download", "Download") as HTMLAnchorElement;
  link.href = URL.createObjectURL(output);
  link.download = outputName;
  link.ariaLabel = `Download ${outputName}`;
  return make("div", "head", make("div", "", make("h2", "", title), make("p", "sizes", ...sizes)), link);
}

interface Bar {
  label: string;
  value: number;
  text: string;
  own: boolean;
}

function barGroup(title: string, bars: Bar[]): HTMLElement {
  const most = Math.max(...bars.map((bar) => bar.value));
  const rows = bars.map(({ label, value, text, own }) => {
    const fill = make("div", own ? "own" : "");
    fill.style.width = `${(100 * value) / most}%`;
    const track = make("div", "track", fill);
    track.ariaHidden = "true";
    return make("div", "bar", make("p", "", make("span", "", label), make("strong", "", text)), track);
  });
  return make("div", "", make("h3", "", title), ...rows);
}

/** One measured codec: sizes in bytes, times in milliseconds. */
interface Measured {
  label: string;
  own: boolean;
  inputBytes: number;
  outputBytes: number;
  compressMs: number;
  decompressMs: number;
}

function fillBars(bars: HTMLElement, all: Measured[]): void {
  const speeds = (time: (one: Measured) => number) =>
    all.map((one) => ({
      label: one.label,
      own: one.own,
      value: one.inputBytes / Math.max(time(one), 0.001),
      text: format.speed(one.inputBytes, time(one)) ?? "too short to tell",
    }));
  const ratios = all.map(({ label, own, inputBytes, outputBytes }) => {
    const value = inputBytes / outputBytes;
    return { label, own, value, text: value.toFixed(2) };
  });
  bars.replaceChildren(
    barGroup("Ratio", ratios),
    barGroup("Compress", speeds((one) => one.compressMs)),
    barGroup("Decompress", speeds((one) => one.decompressMs)),
  );
}

/** Milliseconds of the measured phases of a GPU call. */
function phases({ timing }: Compressed): string {
  const named: [string, number | null][] = [
    ["upload", timing?.uploadNs ?? null],
    ["kernels", timing?.kernelNs ?? null],
    ["read back", timing?.readbackNs ?? null],
  ];
  const known = named.filter((entry): entry is [string, number] => entry[1] !== null);
  return known.map(([name, ns]) => `${name} ${format.duration(ns / 1e6)}`).join(", ");
}

/** Adds a card for a compressed file; the function returned adds gzip's bars to it. */
export function addCompressed(
  name: string,
  inputBytes: number,
  choice: CompressChoice,
  result: Compressed,
): (gzip: Gzipped) => void {
  const outputBytes = result.output.size;
  const { compressMs, decompressMs } = result;
  const label = `LZ4, ${engineOf(result)}`;
  const own: Measured = { label, own: true, inputBytes, outputBytes, compressMs, decompressMs };
  const check = result.verified
    ? make("span", "verified", "✓ round trip verified")
    : make("strong", "", "✗ the round trip failed: do not use this output");
  const sizes = [`${format.size(inputBytes)} → ${format.size(outputBytes)}, `, check];
  const bars = make("div", "bars");
  const details = [`${format.size(choice.blockSize)} blocks`, `level ${choice.level}`, phases(result)];
  const why = result.timing?.reason ? ` ${engineOf(result)}: ${result.timing.reason}.` : "";
  const foot = make("p", "quiet foot", `${details.filter(Boolean).join(", ")}.${why}`);
  const card = make("article", "card", head(name, sizes, `${name}.lz4`, result.output));
  if (inputBytes > 0) {
    fillBars(bars, [own]);
    card.append(bars);
  }
  card.append(foot);
  addCard(card);

  return (gzip) => {
    fillBars(bars, [own, { label: "gzip, CPU", own: false, ...gzip }]);
    const part = gzip.inputBytes < inputBytes ? ` gzip ran on the first ${format.size(gzip.inputBytes)}.` : "";
    foot.append(part);
  };
}

/** Adds a card for a decompressed file. */
export function addDecompressed(name: string, outputName: string, inputBytes: number, result: Decompressed): void {
  const outputBytes = result.output.size;
  const pace = format.speed(outputBytes, result.decompressMs);
  const sizes = `${format.size(inputBytes)} → ${format.size(outputBytes)}${pace ? `, ${pace}` : ""}`;
  const card = make("article", "card", head(`${name} → ${outputName}`, [sizes], outputName, result.output));
  card.append(make("p", "quiet foot", `Decompressed by ${engineOf(result)}.`));
  addCard(card);
}

/** Adds a card for what went wrong. */
export function addFailure(name: string, { code, message }: Failure): void {
  const card = make("article", "failure", make("h2", "", name), make("p", "sizes", make("code", "", code), ` ${message}`));
  card.role = "alert";
  addCard(card);
}
