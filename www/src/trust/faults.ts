// The fault tests of the tab "Trust": corrupted bytes and a lost device.
import type { CorruptResult, LossResult } from "../press/calls";
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
  const asked = `Byte ${format.count(offset)} was ${format.hex(before)} and became ${format.hex(after)}: `;
  const codes = Object.entries(tally).sort(([, a], [, b]) => b - a);
  const rows = codes.map(([name, n]) => make("li", "", make("code", "", name === "none" ? "no error" : name), ` ${n} times`));
  const noticed = nTried - unnoticed.same - unnoticed.changed;
  const harmless = unnoticed.same > 0 ? ` ${unnoticed.same} did not affect the content.` : "";
  const wrong = pages.wrong.map(({ page, status }) => `page ${format.count(page)} is “${status}”`).join(", ") || "no page has a fault";
  const others = pages.othersIntact ? "All others are intact." : "Others were damaged!";
  at.replaceChildren(
    make("p", "", asked, make("code", "", code), ` ${message}.`),
    make("p", "", `Then ${nTried} random bytes, one at a time: ${noticed} detected, ${unnoticed.changed} wrong results.${harmless}`),
    make("ul", "tally", ...rows),
    make("p", "", `In a batch of ${format.count(pages.nPages)} pages with page ${format.count(pages.hit)} damaged: ${wrong}. ${others}`),
  );
}

function lose(): void {
  const at = element("lose-result");
  void runJob(
    "Losing the device",
    async ({ signal }) => {
      const result = await press.call("lose", { allowSoftware: allowsSoftware() }, { signal });
      showLoss(at, result);
      record({ kind: "loss", ...result });
    },
    (failure) => {
      const hint =
        failure.code === "BACKEND_UNAVAILABLE"
          ? [make("p", "soft", "There is no GPU. On some machines “Allow software GPUs” provides one.")]
          : [];
      at.replaceChildren(failureCard(failure), ...hint);
    },
  );
}

function showLoss(at: HTMLElement, { before, after, counters, lossMessages, duringEqual, afterEqual, milliseconds }: LossResult): void {
  const same = (isSame: boolean): string => (isSame ? "returned the right bytes" : "returned wrong bytes!");
  const where = before.adapter === after.adapter ? `on ${after.adapter} again` : `on ${after.adapter ?? "the CPU"} now`;
  at.replaceChildren(
    make("p", "", `The device was destroyed during a call, which ${same(duringEqual)}. The next call ${same(afterEqual)}, ${where}. Both took ${format.duration(milliseconds)}.`),
    make("p", "", `Devices lost: ${counters.lost}, replaced: ${counters.replaced}. `, make("code", "", lossMessages.join("; ") || "no loss was reported")),
  );
}

export function initFaults(): void {
  element("corrupt-start").addEventListener("click", corrupt);
  element("lose-start").addEventListener("click", lose);
}
