import { openSource, type Source } from "../../api/frame-source.js";
import type { Files, StoredFile } from "./files.js";

const PREFIX = "pagepress-snapshots:";
const TABLE = "files";

interface Row {
  readonly bytes: Blob;
  readonly modified: number;
}

/** Opens a database of files; undefined where there is no IndexedDB. */
export async function openDatabase(store: string): Promise<Files | undefined> {
  if (typeof indexedDB !== "object") return undefined;
  const request = indexedDB.open(PREFIX + store, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
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
    const table = this.#table("readonly");
    const [names, rows] = await Promise.all([result(table.getAllKeys()), result(table.getAll() as IDBRequest<Row[]>)]);
    return names.map((name, i) => {
      const { bytes, modified } = rows[i] as Row;
      return { name: name as string, byteLength: bytes.size, modified };
    });
  }

  async read(name: string): Promise<Source | undefined> {
    const row = await result(this.#table("readonly").get(name) as IDBRequest<Row | undefined>);
    return row && openSource(row.bytes, {});
  }

  async write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    const all = [];
    for await (const part of parts) all.push(part);
    const row: Row = { bytes: new Blob(all), modified: Date.now() };
    await this.#change((table) => table.put(row, name));
  }

  async remove(name: string): Promise<void> {
    await this.#change((table) => table.delete(name));
  }

  async tidy(): Promise<void> {}

  async usage(): Promise<StorageEstimate> {
    return navigator.storage?.estimate() ?? {};
  }

  close(): void {
    this.#database.close();
  }

  #table(mode: IDBTransactionMode): IDBObjectStore {
    return this.#database.transaction(TABLE, mode).objectStore(TABLE);
  }

  /** Resolves when the change is on disk. */
  async #change(work: (table: IDBObjectStore) => void): Promise<void> {
    const table = this.#table("readwrite");
    await new Promise<void>((resolve, reject) => {
      const { transaction } = table;
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
      work(table);
    });
  }
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
