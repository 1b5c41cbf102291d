// The tab "Compress": compresses or decompresses the input, then benchmarks the engines on it.
import { isLz4Magic } from "../lz4/frame";
import type { FileProgress } from "../press/calls";
import { element } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { engineChoice, fileOptions, press } from "../shell/press";
import { record } from "../shell/results";
import { currentSubject, setCompressed, setSubject, type Subject } from "../shell/subject";
import { openTab } from "../shell/tabs";
import { benchAll, BENCH_BYTES } from "./bench";
import { clearCard, showCancelled, showCompressed, showDecompressed, showFailure } from "./file-card";
import { initInput } from "./input";
import { Rows } from "./rows";

let rows: Rows;

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

async function pack(subject: Subject, control: JobControl): Promise<void> {
  const options = fileOptions();
  const file = subject.blob;
  const result = await press.call("compress", { file, options }, { signal: control.signal, onProgress: reporter(control, 2) });
  showCompressed(subject, result);
  const { output, ...facts } = result;
  setCompressed({ name: `${subject.name}.lz4`, blob: output });
  const verified = result.roundTrip?.hex === result.digest.hex;
  record({ kind: "file", name: subject.name, outputName: `${subject.name}.lz4`, verified, ...facts });
}

async function unpack(subject: Subject, control: JobControl): Promise<void> {
  const { name, blob } = subject;
  const outputName = name.endsWith(".lz4") ? name.slice(0, -4) || "output" : `${name}.out`;
  const call = { file: blob, choice: engineChoice() };
  const result = await press.call("decompress", call, { signal: control.signal, onProgress: reporter(control, 1) });
  showDecompressed(name, outputName, result, () => {
    location.hash = "look";
    openTab("look");
    element("inspector").scrollIntoView();
  });
  const { output: _, ...facts } = result;
  record({ kind: "unpacked", name, outputName, ...facts });
}

/** Shows which bytes the benchmark uses. */
function describeSubject({ name, blob }: Subject): void {
  const part = blob.size > BENCH_BYTES ? `the first ${format.size(BENCH_BYTES)} of ` : "";
  element("bench-of").textContent = `Measured on ${part}${name}, ${format.size(blob.size)}.`;
}

function take(subject: Subject): void {
  setSubject(subject);
  clearCard(subject.name);
  // On phones the card is below the visible part of the page.
  element("file-card").scrollIntoView({ block: "nearest" });
  void work(subject);
}

async function work(subject: Subject): Promise<void> {
  let isPacked = false;
  const job = async (control: JobControl): Promise<void> => {
    const cancelled = (): void => {
      if (!isPacked) showCancelled(subject.name);
    };
    control.signal.addEventListener("abort", cancelled, { once: true });
    if (await isLz4(subject.blob)) return unpack(subject, control);
    await pack(subject, control);
    isPacked = true;
    if (subject.blob.size > 0) {
      describeSubject(subject);
      await benchAll(subject, rows, control);
    }
  };
  await runJob(subject.name, job, (failure) => showFailure(subject.name, failure));
}

function again(): void {
  const subject = currentSubject();
  if (subject) take(subject);
  else element("generate").click();
}

export function initCompress(): void {
  rows = new Rows();
  initInput(take, (failure) => showFailure("Sample", failure));
  element("again").addEventListener("click", again);
}
