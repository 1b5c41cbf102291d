// All inputs (dropped, chosen, pasted, typed or generated) become one subject.
import type { Sample } from "../press/calls";
import type { Failure } from "../rpc/messages";
import { element } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { press } from "../shell/press";
import type { Subject } from "../shell/subject";
import { filesOf, listenForDrops, type Dropped } from "./drops";
import { tarOf, type Entry } from "./tar";

/** Receives the inputs of the visitor. */
interface Receiver {
  take(subject: Subject): void;
  /** Shows why an input could not be read. */
  failed(name: string, failure: Failure): void;
}

const extensions: Record<Sample, string> = {
  json: "jsonl",
  text: "txt",
  source: "ts",
  memory: "bin",
  random: "bin",
  zeros: "bin",
};

/** Returns a single file unchanged, several files as a tar archive, and null for none. */
function subjectOf(entries: Entry[], archiveName: string): Subject | null {
  const [first] = entries;
  if (!first) return null;
  if (entries.length === 1) return { name: first.file.name, blob: first.file, source: "file" };
  return { name: `${archiveName}.tar`, blob: tarOf(entries), source: "archive" };
}

function chosenFiles(input: HTMLInputElement): Subject | null {
  const entries = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return subjectOf(entries, entries[0]?.path.split("/")[0]?.replace(/\.[^.]*$/, "") ?? "files");
}

const NOTHING = { code: "NO_FILES", message: "What was dropped has no files and no text. Drop files, a folder or selected text." };

/** Takes what was dropped. Folders are read as a job, which shows progress and can be cancelled. */
function takeDropped(dropped: Dropped, { take, failed }: Receiver): void {
  if (dropped.kind === "nothing") return failed("Drop", NOTHING);
  if (dropped.kind === "text") return take(textSubject("dropped.txt", dropped.text));
  if (dropped.kind === "files") {
    const subject = subjectOf(dropped.files.map((file) => ({ path: file.name, file })), "files");
    return subject ? take(subject) : failed("Drop", NOTHING);
  }
  const { roots } = dropped;
  const name = roots.length === 1 ? (roots[0]?.name ?? "folder") : "files";
  void runJob(
    `Reading ${name}`,
    async (control) => {
      const subject = subjectOf(await filesOf(roots, control), name);
      if (subject) take(subject);
      else failed(name, { code: "NO_FILES", message: `The folder ${name} has no files. Choose one with files.` });
    },
    (failure) => failed(name, failure),
  );
}

function textSubject(name: string, text: string): Subject {
  return { name, blob: new Blob([text]), source: "text" };
}

function listenForPastes({ take }: Receiver): void {
  document.addEventListener("paste", (event) => {
    const isField = event.target instanceof Element && event.target.matches("input, textarea, .editor");
    if (isField || !event.clipboardData) return;
    const files = [...event.clipboardData.files].map((file) => ({ path: file.name, file }));
    const text = event.clipboardData.getData("text/plain");
    const subject = subjectOf(files, "pasted") ?? (text ? textSubject("pasted.txt", text) : null);
    if (subject) take(subject);
  });
  const dialog = element<HTMLDialogElement>("paste-dialog");
  const area = element<HTMLTextAreaElement>("paste-text");
  element("paste").addEventListener("click", () => dialog.showModal());
  element("paste-cancel").addEventListener("click", () => dialog.close());
  element("paste-use").addEventListener("click", () => {
    dialog.close();
    take(textSubject("pasted.txt", area.value));
  });
}

/** Returns the size of generated data; the value of the slider is its binary logarithm. */
function sampleBytes(): number {
  return 2 ** Number(element<HTMLInputElement>("sample-size").value);
}

function showSampleSize(): void {
  const text = format.size(sampleBytes());
  element("sample-size-text").textContent = text;
  element("sample-size").setAttribute("aria-valuetext", text);
}

/** Returns the chosen kind and size of generated data, and its file name. */
export function chosenSample(): { sample: Sample; bytes: number; name: string } {
  const sample = element<HTMLSelectElement>("sample").value as Sample;
  const bytes = sampleBytes();
  return { sample, bytes, name: `${sample}-${format.size(bytes).replace(" ", "")}.${extensions[sample]}` };
}

function generate({ take, failed }: Receiver): void {
  const { sample, bytes, name } = chosenSample();
  void runJob(
    `Generating ${name}`,
    async ({ signal, report }) => {
      const blob = await press.call(
        "generate",
        { sample, bytes },
        { signal, onProgress: (done) => report(format.size(done.bytes), done.bytes / bytes) },
      );
      take({ name, blob, source: "sample" });
    },
    (failure) => failed(name, failure),
  );
}

/** Connects all inputs of the page. */
export function initInput(receiver: Receiver): void {
  for (const id of ["file", "folder"]) {
    const input = element<HTMLInputElement>(id);
    input.addEventListener("change", () => {
      const subject = chosenFiles(input);
      input.value = "";
      if (subject) receiver.take(subject);
    });
  }
  element("choose-folder").addEventListener("click", () => element("folder").click());
  listenForDrops((dropped) => takeDropped(dropped, receiver));
  listenForPastes(receiver);
  element("sample-size").addEventListener("input", showSampleSize);
  showSampleSize();
  element("generate").addEventListener("click", () => generate(receiver));
}
