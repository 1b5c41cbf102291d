import { openSource, type Source } from "../../api/frame-source.js";
import type { Files, StoredFile } from "./files.js";

/** Folder of all stores in the origin private file system. */
const FOLDER = "pagepress-snapshots";
/** Start of the names of unfinished files. */
const TEMPORARY = "tmp-";
/**
 * Milliseconds before each further attempt to read a file. A `File` cannot be read after the file was written again, as by a tab
 * that saves the same version; for a closed tab, the browser puts what was written in its place while others already read.
 */
const REOPEN_DELAYS_MS = [0, 10, 50, 250, 1000];

/** A file handle with the methods that TypeScript's library does not declare. */
interface FileHandle extends FileSystemFileHandle {
  /** Only in dedicated workers. */
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
  move?(name: string): Promise<void>;
}

interface SyncAccessHandle {
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}

type Directory = FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> };

/** Opens a folder of the origin private file system; undefined where there is none. */
export async function openOpfs(store: string): Promise<Files | undefined> {
  try {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(FOLDER, { create: true });
    const directory = (await folder.getDirectoryHandle(encodeURIComponent(store), { create: true })) as Directory;
    const isWritable = "createWritable" in FileSystemFileHandle.prototype || "createSyncAccessHandle" in FileSystemFileHandle.prototype;
    return isWritable ? new OpfsFiles(store, directory) : undefined;
  } catch {
    // No such system, as in private windows of some browsers.
    return undefined;
  }
}

class OpfsFiles implements Files {
  readonly place: string;
  readonly minAge = 0;
  readonly #directory: Directory;

  constructor(store: string, directory: Directory) {
    this.place = `opfs:${store}`;
    this.#directory = directory;
  }

  async list(): Promise<StoredFile[]> {
    const files = [];
    for (const { name, size, lastModified } of await this.#all()) {
      // A file that was created and not yet written is empty.
      if (size > 0 && !name.startsWith(TEMPORARY)) files.push({ name, byteLength: size, modified: lastModified });
    }
    return files;
  }

  async read(name: string): Promise<Source | undefined> {
    const found = await this.#find(name);
    if (!found) return undefined;
    let source = found;
    const read = async (start: number, end: number, signal?: AbortSignal, attempt = 0): Promise<Uint8Array> => {
      try {
        return await source.read(start, end, signal);
      } catch (error) {
        const delay = REOPEN_DELAYS_MS[attempt];
        if (delay === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, delay));
        const again = await this.#find(name);
        if (again && again.byteLength !== found.byteLength) throw error;
        source = again ?? source;
        return read(start, end, signal, attempt + 1);
      }
    };
    return { ...found, read: (start, end, signal) => read(start, end, signal) };
  }

  async #find(name: string): Promise<Source | undefined> {
    try {
      const file = await (await this.#directory.getFileHandle(name)).getFile();
      return file.size > 0 ? await openSource(file, {}) : undefined;
    } catch (error) {
      return missing(error);
    }
  }

  async write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    const temporary = `${TEMPORARY}${crypto.randomUUID()}`;
    const isSync = "createSyncAccessHandle" in FileSystemFileHandle.prototype && "move" in FileSystemFileHandle.prototype;
    const created = isSync ? temporary : name;
    const handle = (await this.#directory.getFileHandle(created, { create: true })) as FileHandle;
    try {
      if (isSync) await writeSync(handle, parts);
      else await writeStream(handle, parts);
      if (isSync) await handle.move?.(name);
    } catch (error) {
      if (isSync) await this.remove(temporary);
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#directory.removeEntry(name).catch(missing);
  }

  async tidy(): Promise<void> {
    for (const { name, size } of await this.#all()) if (size === 0 || name.startsWith(TEMPORARY)) await this.remove(name);
  }

  async usage(): Promise<StorageEstimate> {
    return navigator.storage.estimate();
  }

  close(): void {}

  async #all(): Promise<File[]> {
    const files = [];
    for await (const handle of this.#directory.values()) {
      if (handle.kind === "file") files.push(await (handle as FileSystemFileHandle).getFile());
    }
    return files;
  }
}

async function writeSync(handle: FileHandle, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  const access = await (handle.createSyncAccessHandle as () => Promise<SyncAccessHandle>)();
  try {
    let at = 0;
    for await (const part of parts) {
      const written = access.write(part, { at });
      if (written !== part.length) throw new DOMException(`${written} of ${part.length} bytes were written`, "QuotaExceededError");
      at += written;
    }
    access.flush();
  } finally {
    access.close();
  }
}

/** Writes a file that appears when the stream is closed. */
async function writeStream(handle: FileHandle, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  const stream = await handle.createWritable();
  try {
    for await (const part of parts) await stream.write(part);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => undefined);
    throw error;
  }
}

/** Returns undefined for the error that there is no file, and throws any other. */
function missing(error: unknown): undefined {
  if (error instanceof DOMException && error.name === "NotFoundError") return undefined;
  throw error;
}
