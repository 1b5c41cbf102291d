// What was found out, in order: for the report, and for tests, which read `window.__results`.

/** One finding; `kind` says what the other fields are. */
export type Finding = { kind: string } & Record<string, unknown>;

declare global {
  interface Window {
    __results: Finding[];
  }
}

window.__results = [];

const listeners = new Map<string, (() => void)[]>();

/** Notes a finding. Blobs and images stay out of it. */
export function record(finding: Finding): void {
  window.__results.push(finding);
  for (const found of listeners.get(finding.kind) ?? []) found();
}

/** Has `found` called after each finding of a kind. */
export function onFinding(kind: string, found: () => void): void {
  listeners.set(kind, [...(listeners.get(kind) ?? []), found]);
}

/** The newest finding of a kind. */
export function newest(kind: string): Finding | undefined {
  return window.__results.findLast((finding) => finding.kind === kind);
}
