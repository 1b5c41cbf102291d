// The list of all results, for the report and for tests, which read `window.__results`.

/** One result; `kind` determines the other fields. */
export type Finding = { kind: string } & Record<string, unknown>;

declare global {
  interface Window {
    __results: Finding[];
  }
}

window.__results = [];

const listeners = new Map<string, (() => void)[]>();

/** Appends a result, which must not contain blobs or images, and notifies the listeners of its kind. */
export function record(finding: Finding): void {
  window.__results.push(finding);
  for (const found of listeners.get(finding.kind) ?? []) found();
}

/** Calls `found` after each new result of a kind. */
export function onFinding(kind: string, found: () => void): void {
  listeners.set(kind, [...(listeners.get(kind) ?? []), found]);
}

/** Returns the newest result of a kind. */
export function newest(kind: string): Finding | undefined {
  return window.__results.findLast((finding) => finding.kind === kind);
}
