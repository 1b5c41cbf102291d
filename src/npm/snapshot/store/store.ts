import { checkOneOf, checkOptions, fail } from "../../base/arguments.js";
import { disposal } from "../../base/disposal.js";
import { PagepressError } from "../../base/errors.js";
import { SerialQueue } from "../../base/serial-queue.js";
import type { CallOptions } from "../../base/types.js";
import { call as callNames, type Names } from "../../api/options.js";
import { loaded } from "../module.js";
import { openFile } from "../open.js";
import type { Snapshot } from "../types.js";
import { settled, stored, type StoredSnapshot } from "../version.js";
import type { Files, StoredFile } from "./files.js";
import { openFolder } from "./folder.js";
import { openDatabase } from "./indexed-db.js";
import { openOpfs } from "./opfs.js";

/** End of the names of files that hold the id of a named version and the time of its save in milliseconds since 1970. */
const NAME_SUFFIX = ".version";
/** Longest name of a version in bytes, after its encoding. */
const MAX_NAME = 200;

/** Options of `SnapshotStore.open`. */
export interface SnapshotStoreOptions {
  /** Path of a folder, in Node, Deno and Bun. Default there: `"pagepress-snapshots/NAME"`. */
  folder?: string;
  /** The storage of a browser. Default: the origin private file system, or IndexedDB where there is none. */
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

  /** The location of the versions: `"opfs:NAME"`, `"indexeddb:NAME"` or `"folder:PATH"`. */
  get place(): string {
    return this.#files.place;
  }

  /** Saves `snapshot` under `name`, which may exist. Also saves the versions that it continues, as far as they are missing. */
  async save(name: string, snapshot: Snapshot, options: CallOptions = {}): Promise<StoredVersion> {
    checkOptions(options, callNames);
    const version = stored("snapshot", snapshot);
    const file = fileOfName(name);
    return this.#alone(options, version.byteLength, async (job) => {
      const catalog = new Catalog(await this.#files.list());
      for (const link of chainOf(version)) {
        // A flattened version is written although its chain is there: the chain may be collected then.
        if (catalog.hasFile(fileOfVersion(link)) || (link.previousId !== null && catalog.find(link.id))) continue;
        await this.#write(fileOfVersion(link), link.fileParts(job));
        catalog.add(fileOfVersion(link));
      }
      const savedAt = new Date();
      await this.#write(file, once(new TextEncoder().encode(`${version.id} ${savedAt.getTime()}\n`)));
      return { name, id: version.id, savedAt };
    });
  }

  /** Returns the version with this name; rejects with `NOT_FOUND` if there is none. Blocks are read when they are needed. */
  async load(name: string): Promise<Snapshot> {
    return this.#alone({}, null, async () => {
      const entry = await this.#entry(fileOfName(name), name);
      if (!entry) throw new PagepressError("NOT_FOUND", `no version ${JSON.stringify(name)} in ${this.place}`);
      return this.#open(entry.id, new Catalog(await this.#files.list()));
    });
  }

  /** Returns the named versions, the newest first. */
  list(): Promise<StoredVersion[]> {
    return this.#alone({}, null, async () => {
      const entries = await this.#entries(await this.#files.list());
      return entries.sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime());
    });
  }

  /** Removes a name. `collect` removes the files that no name needs any more. */
  async delete(name: string): Promise<void> {
    return this.#alone({}, null, () => this.#files.remove(fileOfName(name)));
  }

  /** Removes the files of versions that no name needs, and what interrupted calls have left. In a folder, which other processes
   * may use, only files of at least `minAge` milliseconds, by default an hour. */
  async collect({ minAge = this.#files.minAge }: { minAge?: number } = {}): Promise<Collected> {
    return this.#alone({}, null, async () => {
      await this.#files.tidy();
      const files = await this.#files.list();
      const catalog = new Catalog(files);
      const needed = new Set<string>();
      for (const { id } of await this.#entries(files)) catalog.find(id)?.forEach((file) => needed.add(file));
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
    const module = await loaded();
    let previous: StoredSnapshot | undefined;
    for (const name of catalog.find(id)?.reverse() ?? []) {
      const source = await this.#files.read(name);
      if (!source) break;
      const snapshot: StoredSnapshot = await openFile(module, source, previous);
      if (snapshot.id === id) return snapshot;
      previous = snapshot;
    }
    throw new PagepressError("NOT_FOUND", `a file of version ${id} is missing in ${this.place}`);
  }

  /** Reads the file of a name; returns undefined if there is none, or if it is damaged. */
  async #entry(file: string, name: string): Promise<StoredVersion | undefined> {
    const source = await this.#files.read(file);
    const text = source === undefined ? "" : new TextDecoder().decode(await source.read(0, source.byteLength));
    const [, id, milliseconds] = /^([0-9a-f]{32}) (\d+)\n$/.exec(text) ?? [];
    return id === undefined ? undefined : { name, id, savedAt: new Date(Number(milliseconds)) };
  }

  async #entries(files: readonly StoredFile[]): Promise<StoredVersion[]> {
    const entries = [];
    for (const { name: file } of files) {
      const name = nameInFile(file);
      const entry = name === undefined ? undefined : await this.#entry(file, name);
      if (entry) entries.push(entry);
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

  /** Returns the files that a version needs, its own first; undefined if one is missing. Prefers a file that needs no other. */
  find(id: string): string[] | undefined {
    // Names of files may be wrong: each version is tried once.
    const [chain, tried]: [string[], Set<string>] = [[], new Set()];
    return this.#follow(id, chain, tried) ? chain : undefined;
  }

  #follow(id: string, chain: string[], tried: Set<string>): boolean {
    const bases = tried.has(id) ? undefined : this.#bases.get(id);
    tried.add(id);
    for (const base of bases?.has(null) ? [null] : (bases ?? [])) {
      chain.push(nameOf(id, base));
      if (base === null || this.#follow(base, chain, tried)) return true;
      chain.pop();
    }
    return false;
  }

  hasFile(name: string): boolean {
    const parts = partsOf(name);
    return parts !== undefined && this.#bases.get(parts.id)?.has(parts.base) === true;
  }
}

async function openFiles(name: string, { folder, backend }: SnapshotStoreOptions): Promise<Files> {
  if (typeof name !== "string" || name === "") fail("name", String(name), "give the name of a store");
  if (backend !== undefined) checkOneOf("backend", backend, ["opfs", "indexeddb"]);
  const isBrowser = typeof indexedDB === "object" || (typeof navigator === "object" && navigator.storage?.getDirectory !== undefined);
  if (folder !== undefined || !isBrowser) return openFolder(folder ?? `pagepress-snapshots/${encodeURIComponent(name)}`);
  let files = backend === "indexeddb" ? undefined : await openOpfs(name);
  if (!files && backend !== "opfs") files = await openDatabase(name);
  const remedy = "this browser offers no storage here: private windows and sandboxed frames have none";
  return files ?? fail("backend", backend ?? "none", remedy);
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
  const encode = (byte: number): string => {
    const character = String.fromCharCode(byte);
    return /[\w-]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
  };
  const encoded = Array.from(bytes, encode).join("");
  const most = `give at most ${MAX_NAME} bytes; other characters than letters, digits, _ and - count as 3 a byte`;
  if (encoded.length > MAX_NAME) fail("name", `${encoded.length} bytes`, most);
  return `${encoded}${NAME_SUFFIX}`;
}

/** Returns the name in the name of its file; undefined for other files. */
function nameInFile(file: string): string | undefined {
  if (!file.endsWith(NAME_SUFFIX)) return undefined;
  try {
    return decodeURIComponent(file.slice(0, -NAME_SUFFIX.length));
  } catch {
    return undefined;
  }
}

async function* once(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes;
}

/** Returns true for the errors of full storage: of browsers, and of Node (no space, file too large, quota of a user). */
function isFull(error: unknown): boolean {
  const { name, code } = (error ?? {}) as { name?: string; code?: unknown };
  return name === "QuotaExceededError" || ["ENOSPC", "EFBIG", "EDQUOT"].includes(code as string);
}
