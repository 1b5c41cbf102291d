// The tab "Trust": change a byte and see the error; lose the GPU and see it come back.
import type { CorruptResult, LossResult } from "../press/calls";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { allowsSoftware, engineChoice, press } from "../shell/press";
import { record } from "../shell/results";
import { currentSubject } from "../shell/subject";

/** So much of the subject is enough. */
const MOST_BYTES = 256 << 10;
/** Content where there is no subject. */
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
  const harmless = unnoticed.same > 0 ? ` ${unnoticed.same} changed nothing of the content.` : "";
  const wrong = pages.wrong.map(({ page, status }) => `page ${format.count(page)} is “${status}”`).join(", ") || "no page is wrong";
  const others = pages.othersIntact ? "All others came back as they were." : "Others came back changed!";
  at.replaceChildren(
    make("p", "", asked, make("code", "", code), ` ${message}.`),
    make("p", "", `Then ${nTried} random bytes, one at a time: ${noticed} noticed, ${unnoticed.changed} wrong results.${harmless}`),
    make("ul", "tally", ...rows),
    make("p", "", `The same in a batch of ${format.count(pages.nPages)} pages, with page ${format.count(pages.hit)} broken: ${wrong}. ${others}`),
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
          ? [make("p", "soft", "Without a GPU there is none to lose. With “allow a GPU in software” this works on some machines.")]
          : [];
      at.replaceChildren(failureCard(failure), ...hint);
    },
  );
}

function showLoss(at: HTMLElement, { before, after, counters, told, duringEqual, afterEqual, milliseconds }: LossResult): void {
  const same = (isSame: boolean): string => (isSame ? "gave the same bytes as before" : "gave other bytes!");
  const where = before.adapter === after.adapter ? `on ${after.adapter} again` : `on ${after.adapter ?? "the CPU"} now`;
  at.replaceChildren(
    make("p", "", `The device was destroyed in the middle of a call. That call ${same(duringEqual)}. The next one ${same(afterEqual)}, ${where}. Both took ${format.duration(milliseconds)}.`),
    make("p", "", `Devices lost: ${counters.lost}, replaced: ${counters.replaced}. `, make("code", "", told.join("; ") || "nothing was told")),
  );
}

export function initFaults(): void {
  element("corrupt-start").addEventListener("click", corrupt);
  element("lose-start").addEventListener("click", lose);
}
