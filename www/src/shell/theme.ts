// Light or dark: as the system has it, until the visitor chooses.
import { element } from "./dom";

const KEY = "pagepress-theme";
const listeners: (() => void)[] = [];

/** Has `changed` called when colours change, for what is drawn. */
export function onTheme(changed: () => void): void {
  listeners.push(changed);
}

/** Has the browser resolve colours, which depend on the theme. */
const probe = document.createElement("i");
probe.hidden = true;

/** The value of a colour of the style sheet. */
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
    // Without storage the system decides.
  }
  apply(kept === "dark" || kept === "light" ? kept : null);
  element("theme").addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds for this visit.
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(null));
}
