// The light or dark theme: that of the system until the visitor chooses one.
import { element } from "./dom";

const KEY = "pagepress-theme";
const listeners: (() => void)[] = [];

/** Calls `changed` when the theme changes, so that canvases are redrawn. */
export function onTheme(changed: () => void): void {
  listeners.push(changed);
}

/** A hidden element on which the browser resolves colours of the current theme. */
const probe = document.createElement("i");
probe.hidden = true;
// Where the system forces its colours, they would all be the colour of text.
probe.style.setProperty("forced-color-adjust", "none");

/** Returns the current value of a colour of the style sheet. */
export function colour(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function apply(theme: string | null): void {
  if (theme) document.documentElement.dataset["theme"] = theme;
  element("theme").ariaPressed = String(isDark());
  for (const changed of listeners) changed();
}

export function initTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // Storage is blocked: the theme of the system applies.
  }
  apply(kept === "dark" || kept === "light" ? kept : null);
  element("theme").addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage is blocked: the choice lasts until the page is closed.
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(null));
}
