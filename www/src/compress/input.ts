// All inputs (dropped, chosen, pasted, typed or generated) become one subject.
import type { Sample } from "../press/calls";
import { failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { element } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { press } from "../shell/press";
import type { Subject } from "../shell/subject";
import { tarOf, type Entry } from "./tar";

type Take = (subject: Subject) => void;
type Failed = (failure: Failure) => void;

const extensions: Record<Sample, string> = {
  json: "jsonl",
  text: "txt",
  source: "ts",
  memory: "bin",
  random: "bin",
  zeros: "bin",
};

/** Returns a single file unchanged, several files as a tar archive, and null for none. */
export function subjectOf(entries: Entry[], archiveName: string): Subject | null {
  const [first] = entries;
  if (!first) return null;
  if (entries.length === 1) return { name: first.file.name, blob: first.file, source: "file" };
  return { name: `${archiveName}.tar`, blob: tarOf(entries), source: "archive" };
}

function chosenFiles(input: HTMLInputElement): Subject | null {
  const entries = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return subjectOf(entries, entries[0]?.path.split("/")[0]?.replace(/\.[^.]*$/, "") ?? "files");
}

/** Collects all dropped files, including those in folders. */
async function droppedFiles(data: DataTransfer): Promise<Subject | null> {
  // The browser clears the items after the event handler returns.
  const roots = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const files = [...data.files];
  if (!roots.some((root) => root?.isDirectory)) {
    return subjectOf(files.map((file) => ({ path: file.name, file })), "files");
  }
  const entries: Entry[] = [];
  for (const root of roots) if (root) await walk(root, entries);
  const name = roots.length === 1 ? (roots[0]?.name ?? "folder") : "files";
  const [only] = entries;
  return entries.length === 1 && only ? { name: only.file.name, blob: only.file, source: "file" } : subjectOf(entries, name);
}

async function walk(entry: FileSystemEntry, entries: Entry[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    entries.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const next = (): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  // readEntries returns at most 100 entries per call.
  for (let some = await next(); some.length > 0; some = await next()) {
    for (const one of some) await walk(one, entries);
  }
}

function listenForDrops(take: Take, failed: Failed): void {
  const drop = element("drop");
  // On the whole page, since a file dropped outside the area would navigate away.
  window.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && drop.classList.remove("over"));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (!event.dataTransfer) return;
    droppedFiles(event.dataTransfer).then(
      (subject) => subject && take(subject),
      (error: unknown) => failed(failureOf(error)),
    );
  });
}

function textSubject(text: string): Subject {
  return { name: "pasted.txt", blob: new Blob([text]), source: "text" };
}

function listenForPastes(take: Take): void {
  document.addEventListener("paste", (event) => {
    const isField = event.target instanceof Element && event.target.matches("input, textarea");
    if (isField || !event.clipboardData) return;
    const files = [...event.clipboardData.files].map((file) => ({ path: file.name, file }));
    const text = event.clipboardData.getData("text/plain");
    const subject = subjectOf(files, "pasted") ?? (text ? textSubject(text) : null);
    if (subject) take(subject);
  });
  const dialog = element<HTMLDialogElement>("paste-dialog");
  const area = element<HTMLTextAreaElement>("paste-text");
  element("paste").addEventListener("click", () => dialog.showModal());
  element("paste-cancel").addEventListener("click", () => dialog.close());
  element("paste-use").addEventListener("click", () => {
    dialog.close();
    take(textSubject(area.value));
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

function generate(take: Take, failed: Failed): void {
  const sample = element<HTMLSelectElement>("sample").value as Sample;
  const bytes = sampleBytes();
  const name = `${sample}-${format.size(bytes).replace(" ", "")}.${extensions[sample]}`;
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
    failed,
  );
}

/** Connects all inputs of the page; `take` is called with each new subject. */
export function initInput(take: Take, failed: Failed): void {
  for (const id of ["file", "folder"]) {
    const input = element<HTMLInputElement>(id);
    input.addEventListener("change", () => {
      const subject = chosenFiles(input);
      input.value = "";
      if (subject) take(subject);
    });
  }
  element("choose-folder").addEventListener("click", () => element("folder").click());
  listenForDrops(take, failed);
  listenForPastes(take);
  element("sample-size").addEventListener("input", showSampleSize);
  showSampleSize();
  element("generate").addEventListener("click", () => generate(take, failed));
}
