// Runs long jobs one at a time, so that measurements do not disturb each other and memory is bounded. The bar at the
// bottom shows progress and cancels the job.
import { failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { element } from "./dom";
import { record } from "./results";

export interface JobControl {
  signal: AbortSignal;
  /** Shows the current step and the fraction that is done, or null if that is unknown. */
  report(text: string, fraction: number | null): void;
}

let last: Promise<unknown> = Promise.resolve();
let current: AbortController | null = null;
let nWaiting = 0;

/** Runs `work` after all earlier jobs. Errors go to `onFailure`, except those of a cancelled job. */
export function runJob(title: string, work: (control: JobControl) => Promise<void>, onFailure: (failure: Failure) => void): Promise<void> {
  nWaiting += 1;
  const job = last.then(async () => {
    nWaiting -= 1;
    const controller = new AbortController();
    const { signal } = controller;
    current = controller;
    show(title, "", null);
    announce(`${title}: started`);
    try {
      await work({ signal, report: (text, fraction) => signal.aborted || show(title, text, fraction) });
      announce(`${title}: done`);
    } catch (error) {
      if (signal.aborted) {
        record({ kind: "cancelled", title });
        announce(`${title}: cancelled`);
      } else {
        const failure = failureOf(error);
        record({ kind: "failure", title, ...failure });
        onFailure(failure);
      }
    } finally {
      current = null;
      hide();
    }
  });
  last = job.catch(() => undefined);
  return job;
}

/** Returns true if no job runs or waits. */
export function isIdle(): boolean {
  return current === null && nWaiting === 0;
}

/** Aborts the running job. */
export function cancelJob(): void {
  current?.abort(new DOMException("cancelled", "AbortError"));
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  element("announcer").textContent = text;
}

function show(title: string, text: string, fraction: number | null): void {
  const bar = element("jobs");
  bar.hidden = false;
  element("job-title").textContent = nWaiting > 0 ? `${title} (${nWaiting} more to do)` : title;
  element("job-text").textContent = text;
  const progress = element<HTMLProgressElement>("job-progress");
  if (fraction === null) progress.removeAttribute("value");
  else progress.value = fraction;
}

function hide(): void {
  if (nWaiting === 0) element("jobs").hidden = true;
}

/** Connects the cancel button and the Escape key. */
export function initJobs(): void {
  element("job-cancel").addEventListener("click", cancelJob);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && current && !document.querySelector("dialog[open]")) cancelJob();
  });
}
