import { chmodSync, closeSync, linkSync, openSync, renameSync, rmSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { createWriteStream, existsSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Files that have no name of their own yet. */
const pending = new Set<string>();

/** Has files that are not complete removed when a signal ends the process. */
export function removePendingAtSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      for (const path of pending) rmSync(path, { force: true });
      process.kill(process.pid, signal);
    });
  }
}

/** An output. */
export interface Output {
  readonly name: string;
  readonly stream: NodeJS.WritableStream;
  /** True if the stream stays open for others. */
  readonly isShared: boolean;
  /** Gives the complete file its name, and the permissions and time of its input. */
  commit(input: Stats | undefined): void;
  discard(): void;
}

export const standardOutput: Output = {
  name: "standard output",
  stream: process.stdout,
  isShared: true,
  commit: () => undefined,
  discard: () => undefined,
};

/** Opens a file, which has another name and only its owner's permissions until it is complete. Throws if `path` is there and
 * `force` is not given. */
export function createFile(path: string, force: boolean): Output {
  const found = existsSync(path) ? statSync(path) : undefined;
  if (found?.isDirectory()) throw new Error(`${path} is a directory; give -o a file`);
  if (found && !found.isFile()) return { ...standardOutput, name: path, stream: createWriteStream(path), isShared: false };
  const exists = `${path} exists; give -f to overwrite it`;
  if (found && !force) throw new Error(exists);
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  closeSync(openSync(temporary, "wx", 0o600));
  pending.add(temporary);
  const discard = (): void => {
    rmSync(temporary, { force: true });
    pending.delete(temporary);
  };
  const commit = (input: Stats | undefined): void => {
    chmodSync(temporary, input ? input.mode & 0o777 : 0o666 & ~process.umask());
    if (input) utimesSync(temporary, input.atime, input.mtime);
    if (force) renameSync(temporary, path);
    else publish(temporary, path, exists);
    pending.delete(temporary);
  };
  return { name: path, stream: createWriteStream(temporary), isShared: false, commit, discard };
}

/** Renames a file, unless there is one of the new name by now. */
function publish(from: string, to: string, exists: string): void {
  try {
    linkSync(from, to);
    unlinkSync(from);
  } catch (error) {
    if (existsSync(to)) throw (error as NodeJS.ErrnoException).code === "EEXIST" ? new Error(exists) : error;
    // A file system without links.
    renameSync(from, to);
  }
}
