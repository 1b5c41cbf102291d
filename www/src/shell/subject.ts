// The current input of the visitor and its compressed file, which all tabs share.

/** An input: a file, several files as one archive, a text, or generated data. */
export interface Subject {
  name: string;
  blob: Blob;
  source: "file" | "archive" | "text" | "sample";
}

let current: Subject | null = null;
const listeners: ((subject: Subject) => void)[] = [];

export function currentSubject(): Subject | null {
  return current;
}

/** Calls `changed` with each new input. */
export function onSubject(changed: (subject: Subject) => void): void {
  listeners.push(changed);
}

export function setSubject(subject: Subject): void {
  current = subject;
  for (const changed of listeners) changed(subject);
}

/** The `.lz4` file of the current input. */
export interface CompressedFile {
  name: string;
  blob: Blob;
}

let compressed: CompressedFile | null = null;
const compressedListeners: ((file: CompressedFile) => void)[] = [];

export function currentCompressed(): CompressedFile | null {
  return compressed;
}

/** Calls `changed` with each new compressed file. */
export function onCompressed(changed: (file: CompressedFile) => void): void {
  compressedListeners.push(changed);
}

export function setCompressed(file: CompressedFile): void {
  compressed = file;
  for (const changed of compressedListeners) changed(file);
}
