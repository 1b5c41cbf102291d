// Files, folders and texts that are dropped anywhere on the page.
import { element } from "../shell/dom";
import type { JobControl } from "../shell/jobs";
import type { Entry } from "./tar";

/** How many entries of a folder are asked for at once. */
const AT_ONCE = 64;
/** Entries between two reports of progress. */
const REPORT_EVERY = 50;

/** What was dropped: entries of the file system to read, plain files, or a text. */
export type Dropped =
  | { kind: "folders"; roots: FileSystemEntry[] }
  | { kind: "files"; files: File[] }
  | { kind: "text"; text: string }
  | { kind: "nothing" };

/** Returns what was dropped. The browser clears it after the event handler returns. */
function droppedIn(data: DataTransfer): Dropped {
  const roots = [...data.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  if (roots.some((root) => root.isDirectory)) return { kind: "folders", roots };
  const files = [...data.files];
  if (files.length > 0) return { kind: "files", files };
  const text = data.getData("text/plain");
  return text ? { kind: "text", text } : { kind: "nothing" };
}

/** Reads all files of dropped folders. */
export async function filesOf(roots: FileSystemEntry[], { signal, report }: JobControl): Promise<Entry[]> {
  const found: Entry[] = [];
  const take = async (entry: FileSystemEntry): Promise<FileSystemDirectoryEntry[]> => {
    if (entry.isDirectory) return [entry as FileSystemDirectoryEntry];
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    if (found.length % REPORT_EVERY === 0) report(`${found.length} files`, null);
    return [];
  };
  const takeAll = async (entries: FileSystemEntry[]): Promise<FileSystemDirectoryEntry[]> => {
    const folders: FileSystemDirectoryEntry[] = [];
    for (let at = 0; at < entries.length; at += AT_ONCE) {
      signal.throwIfAborted();
      folders.push(...(await Promise.all(entries.slice(at, at + AT_ONCE).map(take))).flat());
    }
    return folders;
  };
  // A list instead of recursion, so that the depth of folders does not matter.
  const folders = await takeAll(roots);
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    const reader = folder.createReader();
    const next = (): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    // readEntries returns at most 100 entries per call.
    for (let some = await next(); some.length > 0; some = await next()) folders.push(...(await takeAll(some)));
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Calls `take` with everything that is dropped on the page, except in text fields. */
export function listenForDrops(take: (dropped: Dropped) => void): void {
  const drop = element("drop");
  const isField = ({ target }: Event): boolean => target instanceof Element && target.matches("textarea, [contenteditable]");
  // On the whole page, since a file dropped outside the area would navigate away.
  window.addEventListener("dragover", (event) => {
    if (isField(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && drop.classList.remove("over"));
  window.addEventListener("drop", (event) => {
    if (isField(event)) return;
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer) take(droppedIn(event.dataTransfer));
  });
}
