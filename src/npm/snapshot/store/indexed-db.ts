import { join } from "../../base/bytes.js";
import { PagepressError } from "../../base/errors.js";
import type { Source } from "../../api/frame-source.js";
import type { Files, StoredFile } from "./files.js";

const PREFIX = "pagepress-snapshots:";
const FILES = "files";
const ROWS = "rows";
/**
 * Bytes of a row. Chromium stores blobs, and values from 64 KiB on, in files of their own. Where a tab was closed soon after a
 * transaction was complete, such files could not be read any more (Chromium 156); rows in the database could.
 */
const ROW_BYTES = 32 * 1024;
/** Rows of a transaction. */
const BATCH_ROWS = 128;

/** A file, whose rows have the keys `[id, 0]`, `[id, 1]`, ... */
interface Entry {
  readonly id: string;
  readonly byteLength: number;
  readonly modified: number;
}

/** Opens a database of files; undefined where there is no IndexedDB. */
export async function openDatabase(store: string): Promise<Files | undefined> {
  if (typeof indexedDB !== "object") return undefined;
  const request = indexedDB.open(PREFIX + store, 2);
  request.onupgradeneeded = () => {
    // Version 1, of which there was no release, stored blobs.
    for (const table of request.result.objectStoreNames) request.result.deleteObjectStore(table);
    for (const table of [FILES, ROWS]) request.result.createObjectStore(table);
  };
  const database = await result(request);
  // Another tab may delete the database.
  database.onversionchange = () => database.close();
  return new DatabaseFiles(store, database);
}

class DatabaseFiles implements Files {
  readonly place: string;
  readonly minAge = 0;
  readonly #database: IDBDatabase;

  constructor(store: string, database: IDBDatabase) {
    this.place = `indexeddb:${store}`;
    this.#database = database;
  }

  async list(): Promise<StoredFile[]> {
    const files = this.#database.transaction(FILES).objectStore(FILES);
    const [names, entries] = await Promise.all([result(files.getAllKeys()), result(files.getAll() as IDBRequest<Entry[]>)]);
    return names.map((name, i) => {
      const { byteLength, modified } = entries[i] as Entry;
      return { name: name as string, byteLength, modified };
    });
  }

  async read(name: string): Promise<Source | undefined> {
    const found = await this.#find(name);
    if (!found) return undefined;
    const { byteLength } = found;
    let { id } = found;
    const read = async (start: number, end: number): Promise<Uint8Array> => {
      const bytes = await this.#range(id, start, end);
      if (bytes) return bytes;
      // Another tab has saved the same version again, under another id.
      const again = await this.#find(name);
      if (again?.byteLength === byteLength) id = again.id;
      const moved = await this.#range(id, start, end);
      if (!moved) throw new PagepressError("READ", `${name} cannot be read: it was removed from ${this.place} or written again`);
      return moved;
    };
    return { byteLength, isRemote: false, read };
  }

  /** Writes the rows in several transactions, and the entry in the last one: without it, there is no file. */
  async write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    const id = crypto.randomUUID();
    try {
      let [index, byteLength] = [0, 0];
      for await (const batch of batches(parts)) {
        await this.#change(({ rows }) => batch.forEach((row, i) => rows.put(row, [id, index + i])));
        index += batch.length;
        byteLength = batch.reduce((sum, { length }) => sum + length, byteLength);
      }
      const previous = await this.#find(name);
      await this.#change(({ files, rows }) => {
        files.put({ id, byteLength, modified: Date.now() } satisfies Entry, name);
        if (previous) rows.delete(rowsOf(previous.id));
      });
    } catch (error) {
      await this.#change(({ rows }) => rows.delete(rowsOf(id))).catch(() => undefined);
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    const found = await this.#find(name);
    if (!found) return;
    await this.#change(({ files, rows }) => {
      files.delete(name);
      rows.delete(rowsOf(found.id));
    });
  }

  async tidy(): Promise<void> {
    const files = this.#database.transaction(FILES).objectStore(FILES);
    const ids = new Set((await result(files.getAll() as IDBRequest<Entry[]>)).map(({ id }) => id));
    const rows = this.#database.transaction(ROWS).objectStore(ROWS);
    // The first row of each file.
    const keys = (await result(rows.getAllKeys())) as [string, number][];
    const unfinished = keys.filter(([id, index]) => index === 0 && !ids.has(id));
    if (unfinished.length > 0) await this.#change((tables) => unfinished.forEach(([id]) => tables.rows.delete(rowsOf(id))));
  }

  async usage(): Promise<StorageEstimate> {
    return navigator.storage?.estimate() ?? {};
  }

  close(): void {
    this.#database.close();
  }

  #find(name: string): Promise<Entry | undefined> {
    return result(this.#database.transaction(FILES).objectStore(FILES).get(name) as IDBRequest<Entry | undefined>);
  }

  /** Returns the bytes of a range; undefined if rows are missing. */
  async #range(id: string, start: number, end: number): Promise<Uint8Array | undefined> {
    if (start === end) return new Uint8Array();
    const [first, last] = [Math.floor(start / ROW_BYTES), Math.floor((end - 1) / ROW_BYTES)];
    const rows = this.#database.transaction(ROWS).objectStore(ROWS);
    const found = await result(rows.getAll(IDBKeyRange.bound([id, first], [id, last])) as IDBRequest<Uint8Array[]>);
    if (found.length !== last - first + 1) return undefined;
    const at = start - first * ROW_BYTES;
    return join(found).subarray(at, at + end - start);
  }

  /** Resolves when the change is on disk. */
  #change(work: (tables: { files: IDBObjectStore; rows: IDBObjectStore }) => void): Promise<void> {
    const transaction = this.#database.transaction([FILES, ROWS], "readwrite", { durability: "strict" });
    return new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
      work({ files: transaction.objectStore(FILES), rows: transaction.objectStore(ROWS) });
    });
  }
}

const rowsOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id], [id, []]);

/** Cuts `parts` into rows, and yields them by the number that a transaction writes. */
async function* batches(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  const row = new Uint8Array(ROW_BYTES);
  let length = 0;
  let batch: Uint8Array[] = [];
  for await (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const taken = part.subarray(at, at + ROW_BYTES - length);
      row.set(taken, length);
      [at, length] = [at + taken.length, length + taken.length];
      if (length < ROW_BYTES) break;
      batch.push(row.slice());
      length = 0;
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
  }
  if (length > 0) batch.push(row.slice(0, length));
  if (batch.length > 0) yield batch;
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
