// Runs the engines one after the other, each in a worker of its own.
import type { BenchResult, EngineCalls, EngineId, Run } from "../engines/calls";
import { engines } from "../engines/list";
import { Client, failureOf } from "../rpc/client";
import * as format from "../shell/format";
import type { JobControl } from "../shell/jobs";
import { allowsSoftware, chosenRuns, fileOptions } from "../shell/press";
import { record } from "../shell/results";
import type { Subject } from "../shell/subject";
import type { Rows } from "./rows";
import { spreadsOf } from "./stats";

/** What engines are measured on at most: all of them the same bytes, of which the slow ones take seconds, and which lie
 * in memory a few times. */
export const BENCH_BYTES = ((navigator as { deviceMemory?: number }).deviceMemory ?? 8) > 4 ? 64 << 20 : 16 << 20;
/** An engine begins no further run after so long. */
const BUDGET_MS = 6000;

/** Measures the chosen engines on the start of the subject. */
export async function benchAll({ name, blob }: Subject, rows: Rows, { signal, report }: JobControl): Promise<void> {
  const data = blob.slice(0, BENCH_BYTES);
  const chosen = rows.chosen();
  rows.reset(chosen);
  if (chosen.length === 0) return;
  const results: Partial<Record<EngineId, unknown>> = {};
  const stop = (): void => rows.cancelled();
  signal.addEventListener("abort", stop, { once: true });
  for (const [at, id] of chosen.entries()) {
    signal.throwIfAborted();
    const title = engines.find((entry) => entry.id === id)?.name ?? id;
    const tell = (done: number): void => report(title, (at + done) / chosen.length);
    tell(0);
    try {
      const result = await benchOne(id, data, rows, signal, tell);
      rows.done(id, result);
      results[id] = { ...result, ...spreadsOf(result.runs) };
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      rows.failed(id, failure);
      results[id] = { failure };
    }
  }
  signal.removeEventListener("abort", stop);
  const { blockSize, level } = fileOptions();
  record({ kind: "bench", name, bytes: data.size, ofBytes: blob.size, blockSize, level, engines: results });
}

async function benchOne(
  engine: EngineId,
  data: Blob,
  rows: Rows,
  signal: AbortSignal,
  tell: (done: number) => void,
): Promise<BenchResult> {
  const worker = new Client<EngineCalls>(
    () => new Worker(new URL("../engines/worker.ts", import.meta.url), { type: "module", name: engine }),
  );
  const { blockSize, level } = fileOptions();
  const nRuns = chosenRuns();
  const runs: Run[] = [];
  try {
    return await worker.call(
      "bench",
      { engine, data, runs: nRuns, budgetMs: BUDGET_MS, blockSize, level, allowSoftware: allowsSoftware() },
      {
        signal,
        onProgress(progress) {
          if (progress.phase === "opening") rows.running(engine, "starting");
          else if (progress.phase === "warming") rows.running(engine, `warming up on ${format.size(data.size)}`);
          else if (progress.phase === "warm") rows.warm(engine, progress.warm);
          else {
            runs.push(progress.run);
            rows.runs(engine, data.size, runs);
            tell(runs.length / (nRuns + 1));
          }
        },
      },
    );
  } finally {
    worker.end();
  }
}
