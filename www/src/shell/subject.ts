// What the visitor looks at: a file, several as one archive, a text, or a sample. All tabs share it.

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

/** Has `changed` called with each new subject. */
export function onSubject(changed: (subject: Subject) => void): void {
  listeners.push(changed);
}

export function setSubject(subject: Subject): void {
  current = subject;
  for (const changed of listeners) changed(subject);
}

/** The `.lz4` that was made of the subject. */
export interface Made {
  name: string;
  blob: Blob;
}

let made: Made | null = null;
const waiting: ((made: Made) => void)[] = [];

export function currentMade(): Made | null {
  return made;
}

/** Has `changed` called with each file that is made. */
export function onMade(changed: (made: Made) => void): void {
  waiting.push(changed);
}

export function setMade(output: Made): void {
  made = output;
  for (const changed of waiting) changed(output);
}
