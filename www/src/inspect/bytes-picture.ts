// Draws the bytes of a page, one pixel each, coloured as literals and matches.
import type { Sequence } from "../lz4/sequences";
import type { PageDetail } from "../press/calls";
import { colour } from "../shell/theme";

/** Draws a page. With `only`, everything but that sequence and the source of its match is faded. */
export function drawBytes(
  canvas: HTMLCanvasElement,
  { content, kind }: Pick<PageDetail, "content" | "kind">,
  sequences: Sequence[],
  only?: Sequence,
): void {
  const n = content.length;
  const columns = n > 8192 ? 256 : 64;
  canvas.width = columns;
  canvas.height = Math.ceil(n / columns);
  const context = canvas.getContext("2d");
  if (!context) return;
  const paint = (from: number, length: number, style: string): void => {
    context.fillStyle = style;
    for (let at = from; at < from + length; ) {
      const column = at % columns;
      const run = Math.min(columns - column, from + length - at);
      context.fillRect(column, Math.floor(at / columns), run, 1);
      at += run;
    }
  };
  const [literal, near, far] = [colour("ink"), colour("match-near"), colour("match-far")];
  paint(0, n, kind === "fill" ? colour("fill") : colour("stored"));
  context.globalAlpha = 1;
  for (const { contentAt, nLiterals, nMatch, offset } of sequences) {
    paint(contentAt, nLiterals, literal);
    paint(contentAt + nLiterals, nMatch, offset < 256 ? near : far);
  }
  if (!only) return;
  context.globalAlpha = 0.78;
  paint(0, n, colour("surface"));
  context.globalAlpha = 1;
  const start = only.contentAt + only.nLiterals;
  paint(start - only.offset, Math.min(only.nMatch, only.offset), colour("cpu"));
  paint(only.contentAt, only.nLiterals, colour("fill-strong"));
  paint(start, only.nMatch, colour("gpu"));
}
