// Runs long jobs one at a time, so that measurements do not disturb each other and memory is bounded. The bar at the
// bottom shows progress and cancels the running job. A race gives way to other jobs between its rounds.
import { failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { element } from "./dom";
import { record } from "./results";

export interface JobControl {
  signal: AbortSignal;
  /** Shows the current step and the fraction that is done, or null if that is unknown. */
  report(text: string, fraction: number | null): void;
  /** Runs the jobs that wait, unless they are races too. */
  giveWay(): Promise<void>;
}

export interface JobOptions {
  /** A race runs after all other jobs and gives way to them. */
  isRace?: boolean;
  /** Ends without a message when another job starts: for the race that starts by itself. */
  isOptional?: boolean;
  /** Aborts the job, also before it starts. Default: a new one. */
  controller?: AbortController;
}

interface Job extends Required<JobOptions> {
  title: string;
  work: (control: JobControl) => Promise<void>;
  onFailure: (failure: Failure) => void;
  finished: () => void;
}

const waiting: Job[] = [];
/** The running jobs; the last one runs, and the others have given way to it. */
const running: Job[] = [];

/** Runs `work` after earlier jobs. Errors go to `onFailure`, except those of a cancelled job. */
export function runJob(
  title: string,
  work: Job["work"],
  onFailure: Job["onFailure"],
  options: JobOptions = {},
): Promise<void> {
  return new Promise((finished) => {
    for (const job of [...running, ...waiting]) if (job.isOptional) cancel(job);
    const { controller = new AbortController(), isRace = false, isOptional = false } = options;
    waiting.push({ title, work, onFailure, finished, controller, isRace, isOptional });
    if (running.length === 0) void drain();
  });
}

/** Takes the next job: the first that is not a race or, with `races`, the first race. */
function next(races: boolean): Job | undefined {
  const first = waiting.findIndex(({ isRace }) => !isRace);
  if (first >= 0) return waiting.splice(first, 1)[0];
  return races ? waiting.shift() : undefined;
}

async function drain(): Promise<void> {
  for (let job = next(true); job; job = next(true)) await perform(job);
}

async function perform(job: Job): Promise<void> {
  const { title, work, onFailure, finished, controller } = job;
  const { signal } = controller;
  running.push(job);
  const report = (text: string, fraction: number | null): void => {
    if (!signal.aborted && running.at(-1) === job) show(title, text, fraction);
  };
  const giveWay = async (): Promise<void> => {
    for (let other = next(false); other; other = next(false)) await perform(other);
    signal.throwIfAborted();
  };
  try {
    signal.throwIfAborted();
    show(title, "", null);
    announce(`${title}: started`);
    await work({ signal, report, giveWay });
    announce(`${title}: done`);
  } catch (error) {
    if (signal.aborted) {
      if (!job.isOptional) record({ kind: "cancelled", title });
      announce(`${title}: cancelled`);
    } else {
      const failure = failureOf(error);
      record({ kind: "failure", title, ...failure });
      onFailure(failure);
    }
  } finally {
    running.pop();
    hide();
    finished();
  }
}

function cancel({ controller }: Job): void {
  controller.abort(new DOMException("cancelled", "AbortError"));
}

/** Aborts the running job. */
function cancelJob(): void {
  const job = running.at(-1);
  if (job) cancel(job);
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  element("announcer").textContent = text;
}

function show(title: string, text: string, fraction: number | null): void {
  const bar = element("jobs");
  bar.hidden = false;
  const others = waiting.length + running.length - 1;
  element("job-title").textContent = others > 0 ? `${title} (${others} more)` : title;
  element("job-text").textContent = text;
  const progress = element<HTMLProgressElement>("job-progress");
  if (fraction === null || !Number.isFinite(fraction)) progress.removeAttribute("value");
  else progress.value = fraction;
}

function hide(): void {
  const rest = running.at(-1);
  if (rest) show(rest.title, "", null);
  else if (waiting.length === 0) element("jobs").hidden = true;
}

/** Connects the cancel button and the Escape key, and asks before the page is left during a job. */
export function initJobs(): void {
  element("job-cancel").addEventListener("click", cancelJob);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && running.length > 0 && !document.querySelector("dialog[open]")) cancelJob();
  });
  window.addEventListener("beforeunload", (event) => {
    if ([...running, ...waiting].some(({ isOptional }) => !isOptional)) event.preventDefault();
  });
}
