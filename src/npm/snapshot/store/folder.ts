import type { Source } from "../../api/frame-source.js";
import { builtin } from "../../base/builtin.js";
import type { Files, StoredFile } from "./files.js";

/** Start of the names of unfinished files. */
const TEMPORARY = ".tmp-";
/** Milliseconds that other processes have between writing a version and its name. */
const GRACE = 3_600_000;

/** The functions of `node:path` and `node:fs` that stores call. Programs for browsers do not have Node's types. */
interface Paths {
  join(...parts: string[]): string;
  resolve(path: string): string;
}

interface FileHandle {
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface FileSystem {
  existsSync(path: string): boolean;
  promises: {
    mkdir(path: string, options: { recursive: true }): Promise<unknown>;
    readdir(path: string): Promise<string[]>;
    stat(path: string): Promise<{ size: number; mtimeMs: number }>;
    statfs(path: string): Promise<{ bsize: number; blocks: number; bavail: number }>;
    open(path: string, flags: "r" | "wx"): Promise<FileHandle>;
    rename(from: string, to: string): Promise<void>;
    rm(path: string, options: { force: true }): Promise<void>;
  };
}

/** Opens a folder of Node, Deno or Bun, and creates it if it does not exist. */
export async function openFolder(path: string): Promise<Files> {
  const [fs, { join, resolve }] = await Promise.all([builtin<FileSystem>("node:fs"), builtin<Paths>("node:path")]);
  const folder = resolve(path);
  await fs.promises.mkdir(folder, { recursive: true });
  return new FolderFiles(folder, fs, (name) => join(folder, name));
}

class FolderFiles implements Files {
  readonly place: string;
  readonly minAge = GRACE;
  readonly #folder: string;
  readonly #fs: FileSystem;
  readonly #path: (name: string) => string;

  constructor(folder: string, fs: FileSystem, path: (name: string) => string) {
    this.place = `folder:${folder}`;
    this.#folder = folder;
    this.#fs = fs;
    this.#path = path;
  }

  async list(): Promise<StoredFile[]> {
    const files = [];
    for (const name of await this.#fs.promises.readdir(this.#folder)) {
      if (name.startsWith(TEMPORARY)) continue;
      const { size, mtimeMs } = await this.#fs.promises.stat(this.#path(name));
      files.push({ name, byteLength: size, modified: mtimeMs });
    }
    return files;
  }

  async read(name: string): Promise<Source | undefined> {
    const path = this.#path(name);
    if (!this.#fs.existsSync(path)) return undefined;
    const { size } = await this.#fs.promises.stat(path);
    // Opened for each read, since nothing closes a snapshot.
    const read = async (start: number, end: number): Promise<Uint8Array> => {
      const file = await this.#fs.promises.open(path, "r");
      try {
        return await readRange(file, start, end);
      } finally {
        await file.close();
      }
    };
    return { byteLength: size, isRemote: false, read };
  }

  async write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    const temporary = this.#path(`${TEMPORARY}${crypto.randomUUID()}`);
    try {
      const file = await this.#fs.promises.open(temporary, "wx");
      try {
        for await (const part of parts) await file.writeFile(part);
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#fs.promises.rename(temporary, this.#path(name));
    } catch (error) {
      await this.#fs.promises.rm(temporary, { force: true });
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#fs.promises.rm(this.#path(name), { force: true });
  }

  async tidy(): Promise<void> {
    for (const name of await this.#fs.promises.readdir(this.#folder)) {
      if (!name.startsWith(TEMPORARY)) continue;
      const { mtimeMs } = await this.#fs.promises.stat(this.#path(name)).catch(() => ({ mtimeMs: Infinity }));
      if (Date.now() - mtimeMs > GRACE) await this.remove(name);
    }
  }

  async usage(): Promise<{ usage?: number; quota?: number }> {
    const { bsize, blocks, bavail } = await this.#fs.promises.statfs(this.#folder);
    return { usage: (blocks - bavail) * bsize, quota: blocks * bsize };
  }

  close(): void {}
}

/** Returns the bytes of a range, or fewer at the end of the file. */
async function readRange(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
  }
  return bytes;
}
