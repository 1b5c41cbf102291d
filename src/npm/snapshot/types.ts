import type { Compressor } from "../api/compressor.js";
import type { CallOptions, Level, ModuleSource } from "../base/types.js";

/** A memory: of WebAssembly, a buffer, or a view of one. */
export type MemoryPart = WebAssembly.Memory | ArrayBufferLike | ArrayBufferView<ArrayBufferLike>;

/** One memory, or several with names. A single one has the name `"memory"`. */
export type MemoryInput = MemoryPart | Readonly<Record<string, MemoryPart>>;

/** A named part of an image. */
export interface RegionInfo {
  readonly name: string;
  readonly byteLength: number;
}

/** Options of `snapshot`. */
export interface SnapshotOptions extends CallOptions {
  /** The version to continue: only pages that differ from it are stored. It has the same page size. */
  previous?: Snapshot | undefined;
  /** Bytes of a page: 4096, 8192, 16384, 32768 or 65536. Default: that of `previous`, else 4096. Larger pages compress better,
   * smaller ones change less often. */
  pageSize?: number;
  level?: Level;
  /** Compresses the pages. Default: the compressor of `compress()`, which selects the engine. */
  compressor?: Pick<Compressor, "compressPages">;
  /** Source of the module `pagepress/snapshot.wasm`. Default: the file beside the package's JavaScript. */
  modules?: { snapshot?: ModuleSource };
}

/** Options of `openSnapshot`. */
export interface OpenSnapshotOptions {
  /** The version that an increment continues. */
  previous?: Snapshot | undefined;
  /** Maximum bytes of the image. Default: 4 GiB. */
  maxBytes?: number;
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Options of the requests for a URL. */
  fetch?: RequestInit;
  modules?: { snapshot?: ModuleSource };
}

/** A range of bytes of a region. */
export interface ByteRangeOptions {
  /** Name of the region. Default: the only one. */
  region?: string;
  /** Offset of the first byte. Default 0. */
  start?: number;
  /** Offset after the last byte. Default: the length of the region. */
  end?: number;
}

/** Options of `restore`. Without a range, all regions are restored. */
export interface RestoreOptions extends CallOptions, ByteRangeOptions {}

/** Numbers of pages of a version, by the origin of their content. */
export interface PageCounts {
  /** All pages of the image. */
  readonly pages: number;
  /** Pages that equal the page of the same place in the previous version. */
  readonly unchanged: number;
  /** Pages that are filled with one 64-bit word, zero pages among them. */
  readonly filled: number;
  /** Pages that equal another page, of this version or of the previous one. */
  readonly copied: number;
  /** Pages that this version stores. */
  readonly stored: number;
  /** Bytes of their blocks. */
  readonly storedBytes: number;
}

/** The pages that differ between two versions. */
export interface SnapshotDiff {
  /** Changed ranges in order, by region. Neighbouring pages are one range. */
  readonly changed: readonly { readonly region: string; readonly start: number; readonly end: number }[];
  /** Total bytes of the changed ranges. */
  readonly changedBytes: number;
  /** Names of regions that only the earlier version has. */
  readonly removed: readonly string[];
}

/** A version of the memory of a machine. Created by `snapshot` and `openSnapshot`. */
export interface Snapshot {
  /** Identifies the content: 32 hexadecimal digits that depend on nothing but page size, names, lengths and bytes of the regions. */
  readonly id: string;
  /** Id of the version that this one continues; null if it needs no other. */
  readonly previousId: string | null;
  readonly pageSize: number;
  readonly regions: readonly RegionInfo[];
  /** Bytes of all regions. */
  readonly byteLength: number;
  readonly counts: PageCounts;
  /** Number of versions whose blocks this one needs, itself included. */
  readonly chainLength: number;
  /** Returns bytes of a region. Reads and decompresses only the pages that hold them. */
  read(range?: ByteRangeOptions & { signal?: AbortSignal | undefined }): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the version as a file: an LZ4 file that `lz4 -d` restores to the regions one after the other or, if it continues
   * another version, to the pages that it stores. */
  toFile(options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the same version in a form that needs no previous one. */
  flatten(options?: CallOptions): Promise<Snapshot>;
}
