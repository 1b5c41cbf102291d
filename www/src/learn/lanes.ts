// Draws the segments of a page and the matches that each lane found in its segment.
import type { Sequence } from "../lz4/sequences";
import { make } from "../shell/dom";

const N_LANES = 32;
const SVG = "http://www.w3.org/2000/svg";

/** Draws the page as 32 segments with the matches that begin in each. */
export function drawLanes(at: HTMLElement, nBytes: number, sequences: Sequence[]): void {
  const segment = nBytes / N_LANES;
  const counts = Array.from({ length: N_LANES }, () => 0);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${N_LANES * 20} 84`);
  svg.setAttribute("aria-hidden", "true");
  const rect = (className: string, x: number, y: number, width: number, height: number): void => {
    const made = document.createElementNS(SVG, "rect");
    const box = { x, y, width: Math.max(width, 0.5), height, class: className };
    for (const [name, value] of Object.entries(box)) made.setAttribute(name, String(value));
    svg.append(made);
  };
  const scale = (N_LANES * 20) / nBytes;
  for (let lane = 0; lane < N_LANES; lane += 1) rect(`lane lane-${lane % 2}`, lane * 20, 0, 19, 40);
  for (const { contentAt, nLiterals, nMatch } of sequences) {
    if (nMatch === 0) continue;
    const start = contentAt + nLiterals;
    const lane = Math.min(N_LANES - 1, Math.floor(start / segment));
    counts[lane] = (counts[lane] ?? 0) + 1;
    rect("match", start * scale, 8, nMatch * scale, 24);
  }
  const most = Math.max(...counts, 1);
  counts.forEach((count, lane) => rect("found", lane * 20, 84 - (36 * count) / most, 19, (36 * count) / most));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const caption = `Above: the page in ${N_LANES} segments, matches coloured. Below: matches per lane, at most ${Math.max(...counts)}, ${total} in total.`;
  at.replaceChildren(svg, make("figcaption", "soft", caption));
}
