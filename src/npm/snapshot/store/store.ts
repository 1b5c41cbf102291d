import { checkOptions, fail } from "../../base/arguments.js";
import { disposal } from "../../base/disposal.js";
import { PagepressError } from "../../base/errors.js";
import { SerialQueue } from "../../base/serial-queue.js";
import type { CallOptions } from "../../base/types.js";
import { call as callNames, type Names } from "../../api/options.js";
import { openSnapshot } from "../open.js";
import type { Snapshot } from "../types.js";
import { settled, stored, type StoredSnapshot } from "../version.js";
import type { Files, StoredFile } from "./files.js";
import { openFolder } from "./folder.js";
import { openDatabase } from "./indexed-db.js";
import { openOpfs } from "./opfs.js";

/** Longest name of a version in bytes, after its encoding. */
const MAX_NAME = 200;

/** Options of `SnapshotStore.open`. */
export interface SnapshotStoreOptions {
  /** Path of a folder, in Node, Deno and Bun. Default there: `"pagepress-snapshots/NAME"`. */
  folder?: string;
  /** Where to store in a browser. Default: the origin private file system, or IndexedDB where there is none. */
  backend?: "opfs" | "indexeddb";
}

/** A named version of a store. */
export interface StoredVersion {
  readonly name: string;
  readonly id: string;
  readonly savedAt: Date;
}

/** Result of `collect`. */
export interface Collected {
  readonly files: number;
  readonly bytes: number;
}

/** Contents of the file of a name. */
interface NameEntry {
  readonly name: string;
  readonly id: string;
  readonly savedAt: string;
}

const storeNames: Names<SnapshotStoreOptions> = { folder: true, backend: true };

/** Named versions that outlive the page or the process: in the origin private file system, in IndexedDB, or in a folder.
 *
 * Each version is a file, written before its name: a crash leaves the versions that were there before. Tabs of one origin take
 * turns by Web Locks. */
export class SnapshotStore {
  readonly #files: Files;
  readonly #queue = new SerialQueue();

  private constructor(files: Files) {
    this.#files = files;
  }

  /** Opens the store `name`, and creates it if it does not exist. */
  static async open(name = "default", options: SnapshotStoreOptions = {}): Promise<SnapshotStore> {
    checkOptions(options, storeNames);
    return settled({}, null, async () => new SnapshotStore(await openFiles(name, options)));
  }

  /** Where the versions are: `"opfs:NAME"`, `"indexeddb:NAME"` or `"folder:PATH"`. */
  get place(): string {
    return this.#files.place;
  }

  /** Saves `snapshot` under `name`, which may exist. Also saves the versions that it continues, as far as they are missing. */
  save(name: string, snapshot: Snapshot, options: CallOptions = {}): Promise<StoredVersion> {
    checkOptions(options, callNames);
    const version = stored("snapshot", snapshot);
    const file = fileOfName(name);
    return this.#alone(options, version.byteLength, async (job) => {
      const catalog = new Catalog(await this.#files.list());
      for (const link of chainOf(version)) {
        // A flattened version is written although its chain is there: the chain may be collected then.
        if (catalog.hasFile(fileOfVersion(link)) || (link.previousId !== null && catalog.has(link.id))) continue;
        await this.#write(fileOfVersion(link), link.fileParts(job));
        catalog.add(fileOfVersion(link));
      }
      const entry: NameEntry = { name, id: version.id, savedAt: new Date().toISOString() };
      await this.#write(file, once(new TextEncoder().encode(JSON.stringify(entry))));
      return { ...entry, savedAt: new Date(entry.savedAt) };
    });
  }

  /** Returns the version with this name; rejects with `NOT_FOUND` if there is none. Blocks are read when they are needed. */
  load(name: string): Promise<Snapshot> {
    return this.#alone({}, null, async () => {
      const entry = await this.#entry(fileOfName(name));
      if (!entry) throw new PagepressError("NOT_FOUND", `no version ${JSON.stringify(name)} in ${this.place}`);
      return this.#open(entry.id, new Catalog(await this.#files.list()));
    });
  }

  /** Returns the named versions, the newest first. */
  list(): Promise<StoredVersion[]> {
    return this.#alone({}, null, async () => {
      const entries = (await this.#entries(await this.#files.list())).map(({ entry }) => ({ ...entry, savedAt: new Date(entry.savedAt) }));
      return entries.sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime());
    });
  }

  /** Removes a name. `collect` removes the files that no name needs any more. */
  delete(name: string): Promise<void> {
    return this.#alone({}, null, () => this.#files.remove(fileOfName(name)));
  }

  /** Removes the files of versions that no name needs, and what interrupted calls have left. In a folder, which other processes
   * may use, only files of at least `minAge` milliseconds, by default an hour. */
  collect({ minAge = this.#files.minAge }: { minAge?: number } = {}): Promise<Collected> {
    return this.#alone({}, null, async () => {
      await this.#files.tidy();
      const files = await this.#files.list();
      const catalog = new Catalog(files);
      const needed = new Set<string>();
      for (const { entry } of await this.#entries(files)) catalog.needed(entry.id).forEach((file) => needed.add(file));
      const old = Date.now() - minAge;
      const unneeded = files.filter(({ name, modified }) => partsOf(name) && !needed.has(name) && modified <= old);
      for (const { name } of unneeded) await this.#files.remove(name);
      return { files: unneeded.length, bytes: unneeded.reduce((sum, { byteLength }) => sum + byteLength, 0) };
    });
  }

  /** Releases the store. Versions that were loaded stay usable. */
  close(): void {
    this.#files.close();
  }

  [disposal](): void {
    this.close();
  }

  async #open(id: string, catalog: Catalog): Promise<Snapshot> {
    const file = catalog.find(id);
    const source = file && (await this.#files.read(file.name));
    if (!file || !source) throw new PagepressError("NOT_FOUND", `the file of version ${id} is missing in ${this.place}`);
    const previous = file.base === null ? undefined : await this.#open(file.base, catalog);
    return openSnapshot(source, { previous });
  }

  async #entry(file: string): Promise<NameEntry | undefined> {
    const source = await this.#files.read(file);
    return source && (JSON.parse(await new Response(source as Blob).text()) as NameEntry);
  }

  async #entries(files: readonly StoredFile[]): Promise<{ entry: NameEntry }[]> {
    const entries = [];
    for (const { name } of files) {
      const entry = name.endsWith(".json") ? await this.#entry(name) : undefined;
      if (entry) entries.push({ entry });
    }
    return entries;
  }

  async #write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    let written = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      for await (const part of parts) {
        written += part.length;
        yield part;
      }
    };
    try {
      await this.#files.write(name, counted());
    } catch (error) {
      if (!isFull(error)) throw error;
      const { usage, quota } = await this.#files.usage().catch(() => ({ usage: undefined, quota: undefined }));
      const known = quota === undefined ? "" : `; ${usage ?? 0} of ${quota} bytes are in use`;
      const message = `the storage is full after ${written} bytes of ${name}${known}; delete versions and call collect()`;
      throw new PagepressError("STORAGE_FULL", message, { cause: error });
    }
  }

  /** Runs a call after the earlier ones of this object and, where there are Web Locks, of other tabs. */
  #alone<T>(options: CallOptions, totalBytes: number | null, work: Parameters<typeof settled<T>>[2]): Promise<T> {
    return settled(options, totalBytes, (job) =>
      this.#queue.run(() => {
        const locks = typeof navigator === "object" ? navigator.locks : undefined;
        const run = (): Promise<T> => work(job);
        return locks ? (locks.request(`pagepress ${this.place}`, run) as Promise<T>) : run();
      }),
    );
  }
}

/** The files of versions. */
class Catalog {
  /** For each version its bases; null for a file that needs no other. */
  readonly #bases = new Map<string, Set<string | null>>();

  constructor(files: readonly StoredFile[]) {
    for (const { name } of files) this.add(name);
  }

  add(name: string): void {
    const parts = partsOf(name);
    if (parts) this.#bases.set(parts.id, (this.#bases.get(parts.id) ?? new Set()).add(parts.base));
  }

  /** Returns the file of a version whose bases are all there, one that needs no other if there is one. */
  find(id: string, later: readonly string[] = []): { name: string; base: string | null } | undefined {
    const bases = this.#bases.get(id);
    if (!bases) return undefined;
    if (bases.has(null)) return { name: nameOf(id, null), base: null };
    // Names of files may be wrong: no version continues itself.
    const isThere = (base: string | null): base is string => base !== null && base !== id && !later.includes(base) && this.find(base, [...later, id]) !== undefined;
    const base = [...bases].find(isThere);
    return base === undefined ? undefined : { name: nameOf(id, base), base };
  }

  hasFile(name: string): boolean {
    const parts = partsOf(name);
    return parts !== undefined && this.#bases.get(parts.id)?.has(parts.base) === true;
  }

  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** Returns the files that a version needs. */
  needed(id: string): string[] {
    const file = this.find(id);
    return file ? [file.name, ...(file.base === null ? [] : this.needed(file.base))] : [];
  }
}

async function openFiles(name: string, { folder, backend }: SnapshotStoreOptions): Promise<Files> {
  if (typeof name !== "string" || name === "") fail("name", String(name), "give the name of a store");
  if (backend !== undefined && backend !== "opfs" && backend !== "indexeddb") fail("backend", String(backend), 'give "opfs" or "indexeddb"');
  const hasBrowserStorage = typeof navigator === "object" && (typeof indexedDB === "object" || navigator.storage?.getDirectory !== undefined);
  if (folder !== undefined || !hasBrowserStorage) return openFolder(folder ?? `pagepress-snapshots/${encodeURIComponent(name)}`);
  const files = (backend === "indexeddb" ? undefined : await openOpfs(name)) ?? (backend === "opfs" ? undefined : await openDatabase(name));
  return files ?? fail("backend", String(backend ?? "none"), "this browser offers no storage here: private windows and sandboxed frames have none");
}

/** Returns a version and the versions that it continues, the first one first. */
function chainOf(version: StoredSnapshot): StoredSnapshot[] {
  const chain = [];
  for (let link: StoredSnapshot | undefined = version; link; link = link.previous) chain.unshift(link);
  return chain;
}

function fileOfVersion({ id, previousId }: StoredSnapshot): string {
  return nameOf(id, previousId);
}

function nameOf(id: string, base: string | null): string {
  return base === null ? `${id}.lz4` : `${id}-${base}.lz4`;
}

/** Returns the ids in the name of the file of a version; undefined for other files. */
function partsOf(name: string): { id: string; base: string | null } | undefined {
  const [, id, base] = /^([0-9a-f]{32})(?:-([0-9a-f]{32}))?\.lz4$/.exec(name) ?? [];
  return id === undefined ? undefined : { id, base: base ?? null };
}

/** Returns the name of the file of a name. Throws `INVALID_ARGUMENT` for a name that is empty or too long. */
function fileOfName(name: string): string {
  if (typeof name !== "string" || name === "") return fail("name", String(name), "give a text that is not empty");
  const bytes = new TextEncoder().encode(name);
  const encoded = Array.from(bytes, (byte) => (/[\w-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`)).join("");
  if (encoded.length > MAX_NAME) fail("name", `${encoded.length} bytes`, `give at most ${MAX_NAME} bytes; other characters than letters, digits, _ and - count as 3`);
  return `${encoded}.json`;
}

async function* once(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes;
}

/** Returns true for the errors of full storage: of browsers, and of Node (no space, file too large, quota of a user). */
function isFull(error: unknown): boolean {
  const { name, code } = (error ?? {}) as { name?: string; code?: unknown };
  return name === "QuotaExceededError" || ["ENOSPC", "EFBIG", "EDQUOT"].includes(code as string);
}
