// Races the engines on the same bytes, each in its own worker, in rounds of random order.
import type { BenchResult, EngineCalls, EngineId, RaceOptions, Run } from "../engines/calls";
import { engines } from "../engines/list";
import { shuffled } from "../measure/measure";
import { isBusy, spreadOf, type Spread } from "../measure/stats";
import { Client, failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import * as format from "../shell/format";
import type { JobControl } from "../shell/jobs";
import { record } from "../shell/results";
import type { Subject } from "../shell/subject";
import type { Rows } from "./rows";

/** Maximum input bytes of a race: all engines are open at once, each with copies of them. */
export const RACE_BYTES = ((navigator as { deviceMemory?: number }).deviceMemory ?? 8) > 4 ? 32 << 20 : 8 << 20;
/** An engine that has used this much time runs no more rounds. */
const BUDGET_MS = 6000;

/** The result of an engine, with its times in milliseconds; null if it does not compress. */
export type Measured = BenchResult & { compress: Spread | null; decompress: Spread };
export type Outcome = Measured | { failure: Failure };

/** What is known of each engine: its times, and of a race that has ended the rest of its result. */
export type Outcomes = Partial<Record<EngineId, Pick<Measured, "compress" | "decompress"> | { failure: Failure }>>;

/** The result of a race. */
export interface RaceResult extends RaceOptions {
  name: string;
  /** Bytes of the input that were used, and all of its bytes. */
  bytes: number;
  ofBytes: number;
  engines: Partial<Record<EngineId, Outcome>>;
  /** True if other work disturbed the measurement. */
  isBusy: boolean;
}

/** An engine that takes part. */
interface Racer {
  id: EngineId;
  worker: Client<EngineCalls>;
  spentMs: number;
  result: Omit<BenchResult, "detail" | "backend"> | null;
  outcome: Outcome | null;
}

/** Returns the spread of both directions. */
export function spreadsOf(runs: Run[]): { compress: Spread | null; decompress: Spread } {
  const compress = runs.flatMap(({ compressMs }) => compressMs ?? []);
  return { compress: compress.length > 0 ? spreadOf(compress) : null, decompress: spreadOf(runs.map(({ decompressMs }) => decompressMs)) };
}

function newRacer(id: EngineId): Racer {
  const start = (): Worker => new Worker(new URL("../engines/worker.ts", import.meta.url), { type: "module", name: id });
  return { id, worker: new Client<EngineCalls>(start), spentMs: 0, result: null, outcome: null };
}

/**
 * Races the selected engines on the first `RACE_BYTES` of the input. All of it has the options that are given. `live` is
 * called after each round of an engine.
 */
export async function race(
  { name, blob }: Pick<Subject, "name" | "blob">,
  options: RaceOptions,
  rows: Rows,
  { signal, report, giveWay }: JobControl,
  live: (outcomes: Outcomes) => void,
): Promise<RaceResult | null> {
  const data = blob.slice(0, RACE_BYTES);
  const racers = rows.chosen().map(newRacer);
  rows.reset(racers.map(({ id }) => id));
  if (racers.length === 0) return null;
  const stop = (): void => rows.cancelled();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [at, racer] of shuffled(racers).entries()) {
        if (racer.outcome || (round > 0 && racer.spentMs > BUDGET_MS)) continue;
        await giveWay();
        const title = engines.find(({ id }) => id === racer.id)?.name ?? racer.id;
        report(`round ${round + 1} of ${options.rounds}, ${title}`, (round + at / racers.length) / options.rounds);
        await runRound(racer, data, options, rows, signal);
        live(timesOf(racers));
      }
    }
    for (const racer of racers) await end(racer, options.rounds, rows, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    for (const { worker } of racers) worker.end();
  }
  const result = { name, bytes: data.size, ofBytes: blob.size, ...options, ...outcomesOf(racers) };
  record({ kind: "bench", ...result });
  return result;
}

/** Returns the times so far. */
function timesOf(racers: Racer[]): Outcomes {
  const known = racers.flatMap(({ id, result }) => (result && result.runs.length > 0 ? [[id, spreadsOf(result.runs)]] : []));
  return Object.fromEntries(known) as Outcomes;
}

/** Runs one round of an engine; before the first, opens it. */
async function runRound(racer: Racer, data: Blob, options: RaceOptions, rows: Rows, signal: AbortSignal): Promise<void> {
  const { id, worker } = racer;
  const start = performance.now();
  try {
    if (!racer.result) {
      rows.running(id, "starting");
      const warm = await worker.call("open", { engine: id, options, data }, { signal });
      racer.result = { inputBytes: data.size, outputBytes: 0, warm, runs: [], verified: true, timing: null };
    }
    rows.running(id, `round ${racer.result.runs.length + 1}`);
    const { run, verified, ...rest } = await worker.call("round", { data }, { signal });
    Object.assign(racer.result, rest);
    racer.result.verified &&= verified;
    racer.result.runs.push(run);
    rows.runs(id, data.size, racer.result);
  } catch (error) {
    signal.throwIfAborted();
    racer.outcome = { failure: failureOf(error) };
    rows.failed(id, racer.outcome.failure);
  }
  racer.spentMs += performance.now() - start;
}

async function end(racer: Racer, rounds: number, rows: Rows, signal: AbortSignal): Promise<void> {
  if (racer.outcome || !racer.result) return;
  const closed = await racer.worker.call("close", null, { signal });
  racer.outcome = { ...racer.result, ...closed, ...spreadsOf(racer.result.runs) };
  rows.done(racer.id, racer.outcome, rounds);
}

function outcomesOf(racers: Racer[]): Pick<RaceResult, "engines" | "isBusy"> {
  const outcomes = Object.fromEntries(racers.flatMap(({ id, outcome }) => (outcome ? [[id, outcome]] : []))) as RaceResult["engines"];
  const spreads = Object.values(outcomes).flatMap((one) => ("failure" in one ? [] : [one.decompress, ...(one.compress ? [one.compress] : [])]));
  return { engines: outcomes, isBusy: spreads.some(isBusy) };
}

/** Returns the size and name of the bytes of a race, for example `4 MiB of memory pages`. */
export function raceInput({ name, bytes, ofBytes }: Pick<RaceResult, "name" | "bytes" | "ofBytes">): string {
  return bytes < ofBytes ? `the first ${format.size(bytes)} of ${name}` : `${name}, ${format.size(bytes)}`;
}
