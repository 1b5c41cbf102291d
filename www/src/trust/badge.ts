// The badge: which engine runs, on what, and why no other; in short at the top, in full under "Trust".
import type { BackendInfo, Capabilities } from "pagepress";
import { failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { copyText, element, failureCard, make } from "../shell/dom";
import { engineChoice, press } from "../shell/press";
import { record } from "../shell/results";

declare global {
  interface Window {
    /** The engine, why there is none, or null while it is not known. */
    __backend: BackendInfo | Failure | null;
  }
}

window.__backend = null;

/** Name of an engine. */
function engineName({ engine, software }: BackendInfo): string {
  if (engine === "cpu") return "CPU";
  return software ? "GPU in software" : "GPU";
}

function showBadge(state: string, name: string, note: string): void {
  element("badge").dataset["state"] = state;
  element("badge-engine").textContent = name;
  element("badge-note").textContent = note;
}

function showBackend(backend: BackendInfo): void {
  const { engine, adapter, software, reason, rejected } = backend;
  showBadge(software ? "software" : engine, engineName(backend), adapter ?? "WebAssembly");
  const why = make("p", "", make("strong", "", engineName(backend)), adapter ? `, ${adapter}: ${reason}.` : `: ${reason}.`);
  const items = rejected.map(({ candidate, reason: against }) => make("li", "", make("strong", "", candidate), `: ${against}`));
  const title = items.length > 0 ? [make("p", "soft", "Not taken:"), make("ul", "", ...items)] : [];
  element("engine-text").replaceChildren(why, ...title);
}

/** Opens the engine that the visitor asks for, and says what it is. */
export async function openEngine(): Promise<void> {
  window.__backend = null;
  showBadge("opening", "Starting", "");
  try {
    const { backend } = await press.call("open", engineChoice());
    showBackend(backend);
    window.__backend = backend;
  } catch (error) {
    const failure = failureOf(error);
    showBadge("failed", "No engine", failure.code);
    element("engine-text").replaceChildren(failureCard(failure));
    window.__backend = failure;
  }
}

let described: Capabilities | null = null;

/** What this machine offers, in full. In automatic mode with a GPU, both engines are timed for it. */
async function describe(): Promise<void> {
  const at = element("capabilities");
  if (described) return;
  at.textContent = "Asking this machine…";
  try {
    described = await press.call("capabilities", engineChoice());
    at.textContent = described.text;
    record({ kind: "capabilities", backend: described.backend, calibration: described.calibration });
  } catch (error) {
    at.textContent = failureOf(error).message;
  }
}

/** The adapters, once they were asked for. */
export function knownCapabilities(): Capabilities | null {
  return described;
}

export function initBadge(): void {
  for (const id of ["backend", "allow-software"]) {
    element(id).addEventListener("change", () => {
      described = null;
      element("capabilities").textContent = "";
      element<HTMLDetailsElement>("capabilities-more").open = false;
      void openEngine();
    });
  }
  element("capabilities-more").addEventListener("toggle", () => {
    if (element<HTMLDetailsElement>("capabilities-more").open) void describe();
  });
  const copy = element("capabilities-copy");
  copy.addEventListener("click", () => void describe().then(() => copyText(described?.text ?? "", copy)));
}
