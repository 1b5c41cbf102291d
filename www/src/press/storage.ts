// Stores output in memory while it is small, then in a file of the origin private file system, which bounds memory.
// Files that no open page owns are removed.

/** Output beyond this size is written to a file. */
const IN_MEMORY_BYTES = 32 << 20;
const FOLDER = "outputs";
const LOCK = "pagepress output ";

interface SyncFile {
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}
type FileHandle = FileSystemFileHandle & { createSyncAccessHandle?(): Promise<SyncFile> };

/** An output that is being written. */
export class Output {
  #parts: Blob[] = [];
  #length = 0;
  #file: { sync: SyncFile; handle: FileHandle } | null = null;

  get length(): number {
    return this.#length;
  }

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (!this.#file && this.#length + bytes.length > IN_MEMORY_BYTES) await this.#moveToFile();
    if (this.#file) this.#file.sync.write(bytes, { at: this.#length });
    else this.#parts.push(new Blob([bytes]));
    this.#length += bytes.length;
  }

  async finish(): Promise<Blob> {
    if (!this.#file) return new Blob(this.#parts);
    this.#file.sync.flush();
    this.#file.sync.close();
    return this.#file.handle.getFile();
  }

  discard(): void {
    this.#parts = [];
    this.#file?.sync.close();
  }

  /** Moves the output to a file. Browsers without private files keep using blobs. */
  async #moveToFile(): Promise<void> {
    const file = await newFile().catch(() => null);
    if (!file) return;
    let at = 0;
    for (const part of this.#parts) {
      const bytes = new Uint8Array(await part.arrayBuffer());
      at += file.sync.write(bytes, { at });
    }
    this.#parts = [];
    this.#file = file;
  }
}

/** A lock of this name is held while this page is open, so that other pages do not remove its files. */
const owner = randomName();
void navigator.locks?.request(LOCK + owner, () => new Promise(() => {}));

/** Returns a random name. `crypto.randomUUID` needs https. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("-");
}

async function folder(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
}

async function newFile(): Promise<{ sync: SyncFile; handle: FileHandle } | null> {
  const handle: FileHandle = await (await folder()).getFileHandle(`${owner} ${randomName()}`, { create: true });
  if (!handle.createSyncAccessHandle) return null;
  return { handle, sync: await handle.createSyncAccessHandle() };
}

/** Removes an output of this page, by the name of its file. */
export async function discardOutput(name: string): Promise<null> {
  if (name.startsWith(`${owner} `)) await (await folder()).removeEntry(name).catch(() => undefined);
  return null;
}

/** Removes the files of closed pages. */
export async function removeOutputs(): Promise<void> {
  try {
    const { held = [] } = await navigator.locks.query();
    const owners = new Set(held.map(({ name }) => name?.slice(LOCK.length)));
    owners.add(owner);
    const outputs = await folder();
    const names = (outputs as unknown as { keys(): AsyncIterable<string> }).keys();
    for await (const name of names) {
      if (!owners.has(name.split(" ")[0])) await outputs.removeEntry(name).catch(() => undefined);
    }
  } catch {
    // Without private files or locks there is nothing to remove.
  }
}
