// Shows the speed of operations on the rows of a matrix, with the GPU and on the CPU.
import { element, failureCard, labelledRow } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { record } from "../shell/results";
import { OPERATIONS, type Operation, type TensorEngine } from "./calls";
import { ENGINES, measureEach, openEngines, type Opened, type TensorResult } from "./racers";
import { showAbsent } from "./absent";

const COLS = 1024;
const HEADS = ["Operation", "Engine", "Median", "Best", "Elements", "Error"];

/** The rounds of an engine for one operation. */
export interface OperationPoint extends TensorResult {
  operation: Operation;
}

/** The result of the comparison. */
export interface OperationResult extends Opened {
  rows: number;
  cols: number;
  points: OperationPoint[];
}

function fillTable(points: OperationPoint[], elements: number): void {
  const rows = points.map(({ operation, engine, times, error }) => {
    const perSecond = `${format.three(elements / 1e6 / times.median)} G/s`;
    const label = ENGINES.find(({ id }) => id === engine)?.label ?? engine;
    return labelledRow(HEADS, [operation, label, format.duration(times.median), format.duration(times.least), perSecond, format.error(error)]);
  });
  element("operations-rows").replaceChildren(...rows);
}

async function compare({ signal, report }: JobControl): Promise<OperationResult> {
  report("opening the engines", null);
  const opened = await openEngines(["webgpu", "cpu"], signal);
  const engines = Object.keys(opened.names) as TensorEngine[];
  const rows = Number(element<HTMLSelectElement>("operations-size").value) / COLS;
  const points: OperationPoint[] = [];
  for (const [at, operation] of OPERATIONS.entries()) {
    const argument = { operation, rows, cols: COLS };
    const measured = await measureEach(
      engines,
      (client) => client.call("operate", argument, { signal }),
      () => report(operation, at / OPERATIONS.length),
    );
    points.push(...measured.map((one) => ({ ...one, operation })));
    fillTable(points, rows * COLS);
  }
  return { rows, cols: COLS, points, ...opened };
}

function start(): void {
  void runJob(
    "Operations",
    async (control) => {
      const result = await compare(control);
      element("operations-text").replaceChildren(...showAbsent(result.absent));
      record({ kind: "operations", ...result });
    },
    (failure) => element("operations-text").replaceChildren(failureCard(failure)),
  );
}

export function initOperations(): void {
  element("operations-start").addEventListener("click", start);
}
