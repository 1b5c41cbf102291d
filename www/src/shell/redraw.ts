// Drawings that depend on colours and on their width.
import { onTheme } from "./theme";

/** Has `draw` called when the theme changes, and when `at` becomes another width than before, unless it is hidden. */
export function onLook(at: HTMLElement, draw: () => void): void {
  onTheme(draw);
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = entry?.contentRect.width ?? 0;
    if (now !== width && now > 0) draw();
    width = now;
  }).observe(at);
}
