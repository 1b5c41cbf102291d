import type { Source } from "../../api/frame-source.js";

/** A file of a store. */
export interface StoredFile {
  readonly name: string;
  readonly byteLength: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Files of a store. A file is written whole or not at all. */
export interface Files {
  /** Identifies the place, for locks. */
  readonly place: string;
  /** Milliseconds after which `collect` removes files that no version needs: the place cannot keep others from writing. */
  readonly minAge: number;
  /** Returns all files, without those whose writing was interrupted. */
  list(): Promise<StoredFile[]>;
  /** Opens a file; returns undefined if there is none. */
  read(name: string): Promise<Source | undefined>;
  /** Writes or replaces a file. */
  write(name: string, parts: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void>;
  /** Removes a file if there is one. */
  remove(name: string): Promise<void>;
  /** Removes what interrupted calls have left. */
  tidy(): Promise<void>;
  /** Returns the bytes in use and the bytes that are allowed or exist, as far as they are known. */
  usage(): Promise<{ usage?: number; quota?: number }>;
  close(): void;
}
