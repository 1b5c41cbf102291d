// The tab "How it works", drawn from the current input: a page, one of its sequences byte by byte, the lanes of the
// search, and the frame.
import { sequencesOf, type Sequence } from "../lz4/sequences";
import type { FramePart } from "../lz4/frame";
import type { PageDetail, PageMap } from "../press/calls";
import { failureOf } from "../rpc/client";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { press } from "../shell/press";
import { record } from "../shell/results";
import { currentCompressed, currentSubject, onCompressed, onSubject } from "../shell/subject";
import { isOpen, onTab } from "../shell/tabs";
import { drawBytes } from "../inspect/bytes-picture";
import { sizeBar } from "../inspect/size-bar";
import { onTheme } from "../shell/theme";
import { drawLanes } from "./lanes";

const PAGE_SIZE = 4096;
/** Bytes of the input, and number of its pages, that are searched for an illustrative page. */
const SOME_BYTES = 64 * PAGE_SIZE;
const CANDIDATES = 16;

let detail: PageDetail | null = null;
let sequences: Sequence[] = [];
let chosen = 0;
let drawnFor: unknown = null;

/** Finds the most illustrative page of the input and draws it. */
async function drawPage(): Promise<void> {
  const subject = currentSubject();
  if (!isOpen("learn") || (drawnFor !== null && drawnFor === subject)) return;
  drawnFor = subject ?? "sample";
  const blob = subject && subject.blob.size >= 64 ? subject.blob.slice(0, SOME_BYTES) : await aSample();
  const map = await press.call("map", { owner: "learn", file: blob, pageSize: PAGE_SIZE, choice: { backend: "cpu", allowSoftware: false } });
  const best = await findIllustrative(map);
  element("learn-of").textContent = subject ? `Drawn from ${subject.name}.` : "Drawn from a sample. Drop a file to see your own data.";
  element("learn-none").hidden = best !== undefined;
  element("learn-page").hidden = best === undefined;
  if (!best) return;
  detail = best;
  sequences = sequencesOf(detail.block);
  chosen = Math.max(0, sequences.findIndex(isIllustrative));
  const { block, content } = detail;
  element("learn-page-text").textContent =
    `Page ${best.page} has ${format.count(content.length)} bytes. Its LZ4 block has ${format.count(block.length)} bytes in ${format.plural(sequences.length, "sequence")}.`;
  showSequence();
  drawLanes(element("lanes"), detail.content.length, sequences);
  record({ kind: "learn", page: best.page, nSequences: sequences.length });
}

/** Returns true if a sequence has several literals and a match with a large offset. */
function isIllustrative({ nLiterals, nMatch, offset }: Sequence): boolean {
  return nLiterals > 2 && nMatch > 7 && offset > 300;
}

/** Returns the one of the first LZ4 pages with the most illustrative sequences. */
async function findIllustrative(map: PageMap): Promise<PageDetail | undefined> {
  const pages = [...map.kinds.keys()].filter((page) => map.kinds[page] === 0).slice(0, CANDIDATES);
  const details = await Promise.all(pages.map((page) => press.call("page", { owner: "learn", page })));
  const ranked = details.map((one) => ({ one, n: sequencesOf(one.block).filter(isIllustrative).length }));
  return ranked.sort((a, b) => b.n - a.n)[0]?.one;
}

function aSample(): Promise<Blob> {
  return press.call("generate", { sample: "source", bytes: SOME_BYTES });
}

/** Shows one sequence: its encoded bytes, and the bytes of the page that it describes. */
function showSequence(): void {
  const sequence = sequences[chosen];
  if (!detail || !sequence) return;
  const { block, content } = detail;
  const { at, literalsAt, length, contentAt, nLiterals, nMatch, offset } = sequence;
  element("sequence-number").textContent = `Sequence ${chosen + 1} of ${sequences.length}`;
  const offsetAt = literalsAt + nLiterals;
  const group = (name: string, from: number, to: number, text: string): HTMLElement =>
    make("div", `bytes ${name}`, make("span", "cells", ...hexCells(block, from, to)), make("span", "sub", text));
  const groups = [group("token", at, at + 1, `token: ${nLiterals} literals, match of ${nMatch || "none"}`)];
  if (literalsAt > at + 1) groups.push(group("more", at + 1, literalsAt, "extra bytes of the literal length"));
  if (nLiterals > 0) groups.push(group("literals", literalsAt, offsetAt, `literals: ${quoted(content, contentAt, nLiterals)}`));
  if (nMatch > 0) {
    groups.push(group("offset", offsetAt, offsetAt + 2, `offset: ${offset} bytes`));
    if (at + length > offsetAt + 2) groups.push(group("more", offsetAt + 2, at + length, "extra bytes of the match length"));
  }
  element("sequence-bytes").replaceChildren(...groups);
  showMatch(content, sequence);
  drawChosen();
}

function drawChosen(): void {
  if (detail) drawBytes(element<HTMLCanvasElement>("learn-bytes"), detail, sequences, sequences[chosen]);
}

function hexCells(block: Uint8Array, from: number, to: number): HTMLElement[] {
  const most = 16;
  const cells = Array.from(block.subarray(from, Math.min(to, from + most)), (byte) => make("i", "", format.hex(byte)));
  if (to - from > most) cells.push(make("i", "", "…"));
  return cells;
}

function quoted(content: Uint8Array, at: number, length: number): string {
  const text = new TextDecoder("latin1").decode(content.subarray(at, at + Math.min(length, 32)));
  return `“${text.replace(/[^\x20-\x7e]/g, "·")}${length > 32 ? "…" : ""}”`;
}

/** Shows the source and the destination of a match, with its text. */
function showMatch(content: Uint8Array, { at: start, literalsAt, length, contentAt, nLiterals, nMatch, offset }: Sequence): void {
  const at = element("sequence-match");
  if (nMatch === 0) return at.replaceChildren("The last sequence has no match: blocks end with literals.");
  const to = contentAt + nLiterals;
  // The token, the offset, and the extra bytes of the match length.
  const cost = 1 + start + length - (literalsAt + nLiterals);
  at.replaceChildren(
    `The ${nMatch} bytes at `,
    make("mark", "to", format.count(to)),
    `, ${quoted(content, to, nMatch)}, are a copy of those at `,
    make("mark", "from", format.count(to - offset)),
    ". ",
    `The match takes ${cost} bytes instead of ${nMatch}.`,
  );
}

function step(by: number): void {
  chosen = Math.max(0, Math.min(sequences.length - 1, chosen + by));
  showSequence();
}

/** Shows the parts of the compressed frame with their sizes. */
async function drawFrame(): Promise<void> {
  const compressed = currentCompressed();
  if (!compressed || !isOpen("learn")) return;
  try {
    const parts = await press.call("inspect", { file: compressed.blob });
    element("frame-parts").replaceChildren(...parts.flatMap(frameRows));
    element("frame-bar").replaceChildren(...parts.flatMap((part) => (part.kind === "frame" ? [sizeBar(part.blocks)] : [])));
  } catch (error) {
    element("frame-parts").replaceChildren(make("li", "", failureOf(error).message));
  }
}

function frameRows(part: FramePart): HTMLElement[] {
  if (part.kind !== "frame") return [make("li", "", `Index: ${format.size(part.bytes)}, skipped by other programs`)];
  const { blocks, descriptor, contentChecksum } = part;
  const first = blocks[0];
  const header = (first?.at ?? part.at + part.bytes) - part.at;
  const data = blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  const stored = blocks.filter((block) => block.stored).length;
  return [
    make("li", "", `Header: ${header} bytes, with content size and header checksum`),
    make("li", "", `${format.plural(blocks.length, "block")} of up to ${format.size(descriptor.blockBytes)} of content: ${format.size(data)}, plus 4 bytes each for the block size; ${stored} are stored uncompressed`),
    make("li", "", `End: 4 zero bytes${contentChecksum === null ? "" : " and a checksum of the content"}`),
  ];
}

export function initLearn(): void {
  element("sequence-before").addEventListener("click", () => step(-1));
  element("sequence-after").addEventListener("click", () => step(1));
  const draw = (): void => {
    void drawPage().catch((error: unknown) => {
      drawnFor = null;
      element("learn-of").textContent = failureOf(error).message;
    });
    void drawFrame();
  };
  onTab("learn", draw);
  onSubject(draw);
  onTheme(drawChosen);
  onCompressed(() => void drawFrame());
}
