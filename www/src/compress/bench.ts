// Benchmarks the engines one after the other, each in its own worker.
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

/** Maximum input bytes of a benchmark. Slow engines take seconds for them, and several copies of them are in memory. */
export const BENCH_BYTES = ((navigator as { deviceMemory?: number }).deviceMemory ?? 8) > 4 ? 64 << 20 : 16 << 20;
/** No run of an engine starts after this time. */
const BUDGET_MS = 6000;

/** Benchmarks the selected engines on the first `BENCH_BYTES` of the input. */
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
    const reportShare = (done: number): void => report(title, (at + done) / chosen.length);
    reportShare(0);
    try {
      const result = await benchOne(id, data, rows, signal, reportShare);
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
  reportShare: (done: number) => void,
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
            reportShare(runs.length / (nRuns + 1));
          }
        },
      },
    );
  } finally {
    worker.end();
  }
}
