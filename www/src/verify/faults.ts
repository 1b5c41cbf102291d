// The fault tests of the tab "Verify": changed bytes, a lost GPU, a cancelled call.
import type { CancelResult, CorruptResult, LossResult } from "../press/calls";
import { failureOf } from "../rpc/client";
import { absence } from "../shell/absence";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { allowsSoftware, engineChoice, press } from "../shell/press";
import { record } from "../shell/results";
import { currentSubject } from "../shell/subject";

/** Maximum bytes of the input that are used. */
const MOST_BYTES = 256 << 10;
/** Bytes of the sample that is used without an input. */
const SAMPLE_BYTES = 128 << 10;

async function someContent({ signal }: JobControl): Promise<Blob> {
  const subject = currentSubject();
  if (subject && subject.blob.size > 0) return subject.blob.slice(0, MOST_BYTES);
  return press.call("generate", { sample: "memory", bytes: SAMPLE_BYTES }, { signal });
}

function chosenOffset(): number {
  return Math.max(0, Math.floor(Number(element<HTMLInputElement>("corrupt-offset").value) || 0));
}

function corrupt(): void {
  const at = element("corrupt-result");
  void runJob(
    "Changing bytes",
    async (control) => {
      const file = await someContent(control);
      const { signal, report } = control;
      const onProgress = ({ done, of }: { done: number; of: number }): void => report(`${done} of ${of} bytes`, done / of);
      const argument = { file, offset: chosenOffset(), choice: engineChoice() };
      const result = await press.call("corrupt", argument, { signal, onProgress });
      showCorrupt(at, result);
      record({ kind: "corrupt", ...result });
    },
    (failure) => at.replaceChildren(failureCard(failure)),
  );
}

function showCorrupt(at: HTMLElement, result: CorruptResult): void {
  const { offset, before, after, code, message, tally, nTried, unnoticed, pages } = result;
  const asked = `Byte ${format.count(offset)} changed from ${format.hex(before)} to ${format.hex(after)}: `;
  const codes = Object.entries(tally).sort(([, a], [, b]) => b - a);
  const rows = codes.map(([name, n]) => make("li", "", make("code", "", name === "none" ? "no error" : name), ` ${format.plural(n, "time")}`));
  const rejected = nTried - unnoticed.same - unnoticed.changed;
  const wrong = pages.wrong.map(({ page, status }) => `page ${format.count(page)} has the status “${status}”`).join(", ") || "no page is rejected";
  const others = pages.othersIntact ? "All others are intact." : "Others are damaged.";
  at.replaceChildren(
    make("p", "", asked, make("code", "", code), ` ${message}.`),
    make("p", "", `Then ${nTried} random bytes, one at a time: ${rejected} rejected, ${unnoticed.same} harmless, ${format.plural(unnoticed.changed, "wrong result")}.`),
    make("ul", "tally", ...rows),
    make("p", "", `Batch of ${format.plural(pages.nPages, "page")}, page ${format.count(pages.hit)} damaged: ${wrong}. ${others}`),
  );
}

function lose(): void {
  const at = element("lose-result");
  void runJob(
    "Losing the GPU",
    async ({ signal }) => {
      try {
        const result = await press.call("lose", { allowSoftware: allowsSoftware() }, { signal });
        showLoss(at, result);
        record({ kind: "loss", ...result });
      } catch (error) {
        const { code, message } = failureOf(error);
        if (code !== "BACKEND_UNAVAILABLE") throw error;
        // Without a GPU, the same on the CPU: its work is interrupted, and the next call must be right.
        const result = await press.call("cancel", null, { signal });
        showCancel(at, result, make("p", "soft", `${absence(message)}. On the CPU a call is cancelled instead:`));
        record({ kind: "cancel", ...result });
      }
    },
    (failure) => at.replaceChildren(failureCard(failure)),
  );
}

function cancel(): void {
  const at = element("cancel-result");
  void runJob(
    "Cancelling a call",
    async ({ signal }) => {
      const result = await press.call("cancel", null, { signal });
      showCancel(at, result);
      record({ kind: "cancel", ...result });
    },
    (failure) => at.replaceChildren(failureCard(failure)),
  );
}

function showCancel(at: HTMLElement, { bytes, afterMs, stoppedMs, error, afterEqual }: CancelResult, ...first: HTMLElement[]): void {
  const next = afterEqual ? "returned the right bytes" : "returned wrong bytes";
  const text =
    error === "none"
      ? `The call had already ended after ${format.duration(afterMs)}.`
      : `Compressing ${format.size(bytes)} was cancelled after ${format.duration(afterMs)} and stopped ${format.duration(stoppedMs)} later, with `;
  const what = error === "none" ? [text] : [text, make("code", "", error), "."];
  at.replaceChildren(...first, make("p", "", ...what, ` The next call ${next}.`));
}

function showLoss(at: HTMLElement, { before, after, counters, lossMessages, duringEqual, afterEqual, milliseconds }: LossResult): void {
  const same = (isSame: boolean): string => (isSame ? "returned the right bytes" : "returned wrong bytes");
  const where = before.adapter === after.adapter ? `on ${after.adapter} again` : `on ${after.adapter ?? "the CPU"} now`;
  at.replaceChildren(
    make("p", "", `The device was destroyed during a call, which ${same(duringEqual)}. The next call ${same(afterEqual)}, ${where}. Both took ${format.duration(milliseconds)}.`),
    make("p", "", `Devices lost: ${counters.lost}, replaced: ${counters.replaced}. `, make("code", "", lossMessages.join("; ") || "no loss was reported")),
  );
}

export function initFaults(): void {
  element("corrupt-start").addEventListener("click", corrupt);
  element("lose-start").addEventListener("click", lose);
  element("cancel-start").addEventListener("click", cancel);
}
