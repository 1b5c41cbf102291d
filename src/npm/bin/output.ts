import { chmodSync, closeSync, linkSync, openSync, renameSync, rmSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { createWriteStream, existsSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Temporary files that have not been renamed yet. */
const pending = new Set<string>();

/** Installs signal handlers that remove incomplete files before the process ends. */
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
  /** Renames the complete file to its final name, with the permissions and times of its input. */
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

/** Creates a file, under a temporary name and with permissions of its owner only until it is complete. Throws if `path`
 * exists and `force` is false. */
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

/** Renames a file, unless a file of the new name exists by now. */
function publish(from: string, to: string, exists: string): void {
  try {
    linkSync(from, to);
    unlinkSync(from);
  } catch (error) {
    if (existsSync(to)) throw (error as NodeJS.ErrnoException).code === "EEXIST" ? new Error(exists) : error;
    // The file system does not support hard links.
    renameSync(from, to);
  }
}
