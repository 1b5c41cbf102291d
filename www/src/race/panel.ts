// The race on the first screen: starts by itself on sample data, and runs again on each input.
import type { RaceOptions } from "../engines/calls";
import { chosenSample } from "../compress/input";
import { element, failureCard } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { chosenOptions, onRaceOptions, optionsText, press } from "../shell/press";
import { currentSubject, type Subject } from "../shell/subject";
import { showHeadline } from "./headline";
import { RACE_BYTES, race, raceInput, type RaceResult } from "./race";
import { Rows } from "./rows";

const FIRST_BYTES = 4 << 20;

let rows: Rows;
let shown: RaceOptions | null = null;
/** The race that runs or waits; a newer one replaces it. */
let latest: AbortController | null = null;
const listeners: ((result: RaceResult) => void)[] = [];
let newest: RaceResult | null = null;

/** Calls `done` with the result of each race. */
export function onRace(done: (result: RaceResult) => void): void {
  listeners.push(done);
}

export function newestRace(): RaceResult | null {
  return newest;
}

const isSame = (a: RaceOptions, b: RaceOptions): boolean =>
  a.blockSize === b.blockSize && a.level === b.level && a.rounds === b.rounds && a.allowSoftware === b.allowSoftware;

/** Marks the figures as old if the options were changed since. */
function showAge(): void {
  const isOld = shown !== null && !isSame(shown, chosenOptions().race);
  element("race").dataset["old"] = String(isOld);
  element("race-old").hidden = !isOld;
}

function describe(input: Pick<RaceResult, "name" | "bytes" | "ofBytes">, options: RaceOptions): void {
  shown = options;
  element("race-of").textContent = `${raceInput(input)}; ${optionsText(options)}; ${format.plural(options.rounds, "round")}`;
  element("race-busy").hidden = true;
  showAge();
}

function finish(result: RaceResult | null): void {
  if (!result) return;
  newest = result;
  element("race-busy").hidden = !result.isBusy;
  showHeadline(result.engines);
  for (const done of listeners) done(result);
}

/** Races on an input after the jobs that wait. */
export function raceOn(subject: Subject, options: RaceOptions): void {
  start(subject.name, async () => subject, options, false);
}

/** Races on generated data. */
function raceOnSample(isOptional: boolean): void {
  const { sample, bytes, name } = chosenSample();
  const size = isOptional ? FIRST_BYTES : Math.min(bytes, RACE_BYTES);
  const make = async (signal: AbortSignal): Promise<Pick<Subject, "name" | "blob">> => {
    const blob = await press.call("generate", { sample, bytes: size }, { signal });
    return { name: isOptional ? "sample data (memory pages)" : name, blob };
  };
  start(isOptional ? "sample data" : name, make, chosenOptions().race, isOptional);
}

function start(
  title: string,
  input: (signal: AbortSignal) => Promise<Pick<Subject, "name" | "blob">>,
  options: RaceOptions,
  isOptional: boolean,
): void {
  latest?.abort(new DOMException("replaced by a newer race", "AbortError"));
  const controller = new AbortController();
  latest = controller;
  void runJob(
    `Race on ${title}`,
    async (control) => {
      const subject = await input(control.signal);
      describe({ name: subject.name, bytes: Math.min(subject.blob.size, RACE_BYTES), ofBytes: subject.blob.size }, options);
      finish(await race(subject, options, rows, control, showHeadline));
    },
    (failure) => element("headline").replaceChildren(failureCard(failure)),
    { isRace: true, isOptional, controller },
  );
}

function again(): void {
  const subject = currentSubject();
  if (subject && subject.blob.size > 0) raceOn(subject, chosenOptions().race);
  else raceOnSample(false);
}

/** Starts the first race, unless the visitor saves data. A hidden page waits until it is shown. */
export function startFirstRace(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  const begin = (): void => {
    if (document.hidden || newest !== null || latest !== null) return;
    document.removeEventListener("visibilitychange", begin);
    raceOnSample(true);
  };
  document.addEventListener("visibilitychange", begin);
  begin();
}

export function initRace(): void {
  rows = new Rows();
  element("again").addEventListener("click", again);
  onRaceOptions(showAge);
}
