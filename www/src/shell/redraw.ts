// Redraws drawings that depend on the theme and on their width.
import { onTheme } from "./theme";

/** Calls `draw` when the theme changes and when the width of `at` changes to anything but 0 (hidden). */
export function onThemeOrWidth(at: HTMLElement, draw: () => void): void {
  onTheme(draw);
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = entry?.contentRect.width ?? 0;
    if (now !== width && now > 0) draw();
    width = now;
  }).observe(at);
}
