// Draws the block sizes of a frame.
import type { Block } from "../lz4/frame";
import { make } from "../shell/dom";

/** Maximum number of columns. */
const MOST = 160;

/** Returns a bar chart of block sizes in file order. With many blocks a column is the mean of several. */
export function sizeBar(blocks: Block[]): HTMLElement {
  const bar = make("div", "columns");
  bar.ariaHidden = "true";
  const n = Math.min(blocks.length, MOST);
  const most = Math.max(...blocks.map(({ bytes }) => bytes), 1);
  for (let i = 0; i < n; i += 1) {
    const group = blocks.slice(Math.floor((i * blocks.length) / n), Math.floor(((i + 1) * blocks.length) / n));
    const mean = group.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(group.length, 1);
    const column = make("i", group.some(({ stored }) => stored) ? "column stored" : "column");
    column.style.height = `${Math.max(4, (100 * mean) / most)}%`;
    bar.append(column);
  }
  return bar;
}
