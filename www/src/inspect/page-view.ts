// Shows one page: its bytes as a picture, and its sequences as a list.
import { sequencesOf, type Sequence } from "../lz4/sequences";
import type { PageDetail } from "../press/calls";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { record } from "../shell/results";
import { onTheme } from "../shell/theme";
import { drawBytes } from "./bytes-picture";

/** Maximum number of sequences in the list; the picture shows all of them. */
const MOST_LISTED = 400;

let shown: { detail: PageDetail; sequences: Sequence[] } | null = null;

/** Hides the view. */
export function clearPage(): void {
  shown = null;
  element("page-view").hidden = true;
}

/** Shows a page of the map. */
export function showPage(detail: PageDetail): void {
  const sequences = detail.kind === "lz4" ? sequencesOf(detail.block) : [];
  shown = { detail, sequences };
  element("page-view").hidden = false;
  element("page-title").textContent = titleOf(detail, sequences);
  draw();
  list(detail, sequences);
  const { page, kind, content, block } = detail;
  record({ kind: "page", page, pageKind: kind, contentBytes: content.length, blockBytes: block.length, nSequences: sequences.length });
}

function titleOf({ page, kind, content, block }: PageDetail, sequences: Sequence[]): string {
  const sizes = `${format.size(content.length)} to ${format.size(block.length)}`;
  if (kind === "stored") return `Page ${page}: incompressible, stored`;
  if (kind === "fill") {
    const word = Array.from(block, format.hex).join(" ");
    return `Page ${page}: filled with one 8-byte word${word ? `, ${word}` : ""}`;
  }
  const matched = sequences.reduce((sum, { nMatch }) => sum + nMatch, 0);
  const share = Math.round((100 * matched) / Math.max(content.length, 1));
  return `Page ${page}: ${sizes}, ${format.plural(sequences.length, "sequence")}, ${share} % from matches`;
}

function draw(): void {
  if (!shown) return;
  const canvas = element<HTMLCanvasElement>("page-bytes");
  drawBytes(canvas, shown.detail, shown.sequences);
  canvas.ariaLabel = "The bytes of the page: literals are dark, matches are coloured";
}

function list({ content, kind }: PageDetail, sequences: Sequence[]): void {
  const table = element("sequences");
  table.hidden = kind !== "lz4";
  const decoder = new TextDecoder("latin1");
  const lines = sequences.slice(0, MOST_LISTED).map((sequence, i) => {
    const { contentAt, nLiterals, nMatch, offset } = sequence;
    const bytes = content.subarray(contentAt, contentAt + Math.min(nLiterals, 24));
    // Non-printable characters are shown as dots.
    const text = decoder.decode(bytes).replace(/[^\x21-\x7e ]/g, "·");
    const literals = make("code", "", `${text}${nLiterals > 24 ? "…" : ""}`);
    const match = nMatch > 0 ? [String(nMatch), String(offset)] : ["", "end"];
    return row([String(i), String(nLiterals), literals, ...match]);
  });
  const rest = sequences.length - lines.length;
  if (rest > 0) lines.push(row(["", "", `${format.count(rest)} more`, "", ""]));
  table.querySelector("tbody")?.replaceChildren(...lines);
}

function row(cells: (string | Node)[]): HTMLTableRowElement {
  return make("tr", "", ...cells.map((cell) => make("td", "", cell)));
}

onTheme(draw);
