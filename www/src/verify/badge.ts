// Shows the selected engine and the reason: in short in the badge, in full on the tab "Verify".
import type { BackendInfo, Capabilities } from "pagepress";
import { failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { copyText, element, failureCard, make } from "../shell/dom";
import { engineChoice, press } from "../shell/press";
import { record } from "../shell/results";

declare global {
  interface Window {
    /** The engine, the error if none could be opened, or null while it is being opened. */
    __backend: BackendInfo | Failure | null;
  }
}

window.__backend = null;

/** Returns the name of an engine. */
function engineName({ engine, software }: BackendInfo): string {
  if (engine === "cpu") return "CPU";
  return software ? "Software GPU" : "GPU";
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
  const title = items.length > 0 ? [make("p", "soft", "Rejected:"), make("ul", "", ...items)] : [];
  element("engine-text").replaceChildren(why, ...title);
}

/** Opens the selected backend and shows the engine. */
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

/** Shows the adapters and limits of this machine. In automatic mode with a GPU this measures both engines. */
async function describe(): Promise<void> {
  const at = element("capabilities");
  if (described) return;
  at.textContent = "Querying adapters…";
  try {
    described = await press.call("capabilities", engineChoice());
    at.textContent = described.text;
    record({ kind: "capabilities", backend: described.backend, calibration: described.calibration });
  } catch (error) {
    at.textContent = failureOf(error).message;
  }
}

/** Returns the capabilities, or null before they were queried. */
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
