// The tab "Compress": every input gets a card and a job; then the engines race on it.
import { isLz4Magic } from "../lz4/frame";
import type { FileProgress } from "../press/calls";
import { failureOf } from "../rpc/client";
import { element } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { chosenOptions, engineChoice, press, type JobOptions } from "../shell/press";
import { record } from "../shell/results";
import { setCompressed, setSubject, type Subject } from "../shell/subject";
import { openTab } from "../shell/tabs";
import { raceOn } from "../race/panel";
import { Card } from "./card";
import { initInput } from "./input";

/** Returns true if a file starts with the magic number of an LZ4 frame. */
async function isLz4(blob: Blob): Promise<boolean> {
  if (blob.size < 4) return false;
  return isLz4Magic(new DataView(await blob.slice(0, 4).arrayBuffer()).getUint32(0, true));
}

const STAGES = { compressing: 0, decompressing: 0, checking: 1 };

/** Returns a function that shows the progress of a file with `nStages` passes. */
function reporter({ report }: JobControl, nStages: number): (progress: FileProgress) => void {
  return ({ stage, bytesIn, totalBytes }) => {
    const fraction = totalBytes > 0 ? bytesIn / totalBytes : 1;
    const text = `${stage}, ${format.size(bytesIn)} of ${format.size(totalBytes)}`;
    report(text, nStages === 1 ? fraction : (STAGES[stage] + fraction) / nStages);
  };
}

/** Removes the output of a card from the storage of the worker. */
function discardOutput(output: Blob): void {
  if (output instanceof File) void press.call("discard", { name: output.name }).catch(() => undefined);
}

async function pack(card: Card, subject: Subject, options: JobOptions, control: JobControl): Promise<void> {
  setSubject(subject);
  const call = { file: subject.blob, options: options.file };
  const result = await press.call("compress", call, { signal: control.signal, onProgress: reporter(control, 2) });
  const { output, ...facts } = result;
  card.onRemove(() => discardOutput(output));
  card.compressed(subject, result, options.file);
  setCompressed({ name: `${subject.name}.lz4`, blob: output });
  const verified = result.roundTrip?.hex === result.digest.hex;
  record({ kind: "file", name: subject.name, outputName: `${subject.name}.lz4`, verified, ...facts });
}

async function unpack(card: Card, { name, blob }: Subject, control: JobControl, dictionary: Blob | null): Promise<void> {
  const outputName = name.endsWith(".lz4") ? name.slice(0, -4) || "output" : `${name}.out`;
  const call = { file: blob, choice: engineChoice(), dictionary };
  const { signal } = control;
  const result = await press.call("decompress", call, { signal, onProgress: reporter(control, 1) });
  const parts = await press.call("inspect", { file: blob }, { signal });
  const { output, ...facts } = result;
  card.onRemove(() => discardOutput(output));
  card.decompressed(outputName, result, parts, () => {
    openTab("inspect");
    element("inspector").scrollIntoView();
  });
  (await import("../inspect/inspector")).showInspected(name, blob, parts);
  // The other tabs show the content, not the compressed bytes.
  setSubject({ name: outputName, blob: output, source: "file" });
  setCompressed({ name, blob });
  record({ kind: "unpacked", name, outputName, ...facts });
}

/** What to do with an input: find out, or what the visitor chose. */
type Intent = { kind: "detect" } | { kind: "compress" } | { kind: "decompress"; dictionary: Blob };

function take(subject: Subject): void {
  const card = new Card(subject.name);
  // On phones the card is below the visible part of the page.
  card.root.scrollIntoView({ block: "nearest" });
  run(card, subject, { kind: "detect" });
}

function run(card: Card, subject: Subject, intent: Intent): void {
  const { name, blob } = subject;
  const { signal } = card.controller;
  const work = async (control: JobControl): Promise<void> => {
    control.signal.addEventListener("abort", () => card.cancelled(), { once: true });
    card.working();
    const options = chosenOptions();
    if (intent.kind === "decompress") return unpack(card, subject, control, intent.dictionary);
    if (intent.kind === "detect" && (await isLz4(blob))) return unpack(card, subject, control, null);
    if (intent.kind === "detect" && name.endsWith(".lz4")) {
      record({ kind: "failure", title: name, code: "NOT_LZ4", message: "the file does not begin like an LZ4 file" });
      return card.notLz4(blob.size === 0, () => run(card, subject, { kind: "compress" }));
    }
    await pack(card, subject, options, control);
    if (blob.size > 0) raceOn(subject, options.race);
  };
  const failed = (failure: ReturnType<typeof failureOf>): void => {
    if (failure.code !== "DICTIONARY_NEEDED") return card.failed(failure);
    card.needsDictionary(failure, (dictionary) => run(card, subject, { kind: "decompress", dictionary }));
  };
  if (!signal.aborted) void runJob(name, work, failed, { controller: card.controller });
}

export function initCompress(): void {
  initInput({ take, failed: (name, failure) => new Card(name).failed(failure) });
}
