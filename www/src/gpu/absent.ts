// Says which engines are not available.
import { absence } from "../shell/absence";
import { make } from "../shell/dom";
import type { TensorEngine } from "./calls";
import { ENGINES } from "./racers";

/** Returns a line per engine that could not be opened. */
export function showAbsent(absent: Partial<Record<TensorEngine, string>>): HTMLElement[] {
  return Object.entries(absent).map(([engine, message]) => {
    const label = ENGINES.find(({ id }) => id === engine)?.label ?? engine;
    return make("li", "", `${label}. ${absence(message)}`);
  });
}
