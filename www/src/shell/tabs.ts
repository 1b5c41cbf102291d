// The tabs. Arrow keys move between them. The fragment of the address names the open one, and each change is an entry of
// the history, so that Back returns to the tab before.
import { element } from "./dom";

type Opened = () => void;
const listeners = new Map<string, Opened[]>();
const tabs = (): HTMLButtonElement[] => [...document.querySelectorAll<HTMLButtonElement>("[role=tab]")];
const nameOf = (tab: HTMLElement): string => tab.id.replace("tab-", "");

/** Calls `opened` each time the tab is opened, and at once if it is open. */
export function onTab(name: string, opened: Opened): void {
  listeners.set(name, [...(listeners.get(name) ?? []), opened]);
  if (isOpen(name)) opened();
}

/** Returns true if a tab is open. */
export function isOpen(name: string): boolean {
  return element(`tab-${name}`).ariaSelected === "true";
}

function show(name: string): void {
  for (const tab of tabs()) {
    const isChosen = nameOf(tab) === name;
    tab.ariaSelected = String(isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    element(`panel-${nameOf(tab)}`).hidden = !isChosen;
  }
  for (const opened of listeners.get(name) ?? []) opened();
}

/** Returns the parameters after the name of the tab: `#learn?program=...`. */
export function fragmentParameters(): URLSearchParams {
  return new URLSearchParams(location.hash.split("?")[1] ?? "");
}

function fromAddress(): void {
  const name = location.hash.slice(1).split("?")[0] ?? "";
  show(tabs().some((tab) => nameOf(tab) === name) ? name : "compress");
}

/** Opens a tab as a new entry of the history. */
export function openTab(name: string): void {
  if (!isOpen(name)) history.pushState(null, "", `#${name}`);
  show(name);
}

function choose(tab: HTMLButtonElement | undefined): void {
  if (!tab) return;
  openTab(nameOf(tab));
  tab.focus();
  // Scrolls back to the start of the panel.
  const top = element("main").getBoundingClientRect().top + scrollY - element("tabs").offsetHeight;
  if (scrollY > top) scrollTo({ top });
}

export function initTabs(): void {
  for (const tab of tabs()) tab.addEventListener("click", () => choose(tab));
  element("tabs").addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.findIndex((tab) => tab.ariaSelected === "true");
    const goals: Record<string, number> = {
      ArrowLeft: (at + all.length - 1) % all.length,
      ArrowRight: (at + 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const goal = goals[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    choose(all[goal]);
  });
  // Links in the page change the fragment, Back and Forward the entry.
  window.addEventListener("popstate", fromAddress);
  fromAddress();
}
