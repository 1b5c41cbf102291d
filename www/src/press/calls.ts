// What the page asks of the worker that has Pagepress. Times are in milliseconds, sizes in bytes.
import type { BackendInfo, Calibration, Capabilities, DeviceCounters, Engine, Level, Timing } from "pagepress";
import type { FramePart } from "../lz4/frame";

export interface EngineChoice {
  backend: "auto" | Engine;
  allowSoftware: boolean;
}

export interface FileOptions extends EngineChoice {
  blockSize: number;
  level: Level;
  index: boolean;
}

/** How far through a file a call is. */
export interface FileProgress {
  stage: "compressing" | "decompressing" | "checking";
  bytesIn: number;
  bytesOut: number;
  totalBytes: number;
}

/** A digest in hexadecimal, and what it is of. */
export interface Digest {
  hex: string;
  /** Whether it is SHA-256 of all bytes, or of the digests of the pieces; or XXH32 of those, where a page without https has
   * no SHA-256. */
  kind: "sha256" | "sha256-of-pieces" | "xxh32-of-pieces";
}

export interface FileResult {
  output: Blob;
  inputBytes: number;
  outputBytes: number;
  milliseconds: number;
  digest: Digest;
  /** The digest after the way there and back; null for files that were only decompressed. */
  roundTrip: Digest | null;
  /** The engine that ran, and why. */
  engine: Engine;
  reason: string;
}

export type Sample = "json" | "text" | "source" | "memory" | "random" | "zeros";

/** Kinds of pages in a batch, by their number in its table. */
export const PAGE_KINDS = ["lz4", "stored", "fill"] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** A batch of pages, page by page. */
export interface PageMap {
  pageSize: number;
  byteLength: number;
  /** The kind of each page, by its place in `PAGE_KINDS`. */
  kinds: Uint8Array<ArrayBuffer>;
  /** Bytes of each page's block. */
  lengths: Uint32Array<ArrayBuffer>;
  packedBytes: number;
  engine: Engine;
}

export interface PageDetail {
  page: number;
  kind: PageKind;
  content: Uint8Array<ArrayBuffer>;
  /** Its block; for a page that is filled with one word, that word. */
  block: Uint8Array<ArrayBuffer>;
}

export interface SweepPoint {
  engine: Engine;
  bytes: number;
  compressMs: number;
  decompressMs: number;
}

export interface AutoPick {
  bytes: number;
  engine: Engine;
  reason: string;
}

export interface SweepResult {
  points: SweepPoint[];
  /** What `"auto"` takes for each size. */
  picks: AutoPick[];
  calibration: Calibration | null;
  /** Why there is nothing of the GPU; null if there is. */
  withoutGpu: string | null;
  /** Engines that became too slow to go on, and where. */
  stopped: { engine: Engine; bytes: number }[];
}

export interface CorruptResult {
  /** The one byte that was asked for. */
  offset: number;
  before: number;
  after: number;
  code: string;
  message: string;
  /** How many of `nTried` random bytes gave which code. */
  tally: Record<string, number>;
  nTried: number;
  /** Flips that gave back the content unchanged or, worse, changed. */
  unnoticed: { same: number; changed: number };
  /** The same in a batch of pages: which are wrong, and whether all others are as they were. */
  pages: { nPages: number; hit: number; wrong: { page: number; status: string }[]; othersIntact: boolean };
}

export interface LossResult {
  before: BackendInfo;
  after: BackendInfo;
  counters: DeviceCounters;
  /** What the package was told of the loss. */
  told: string[];
  /** Whether the call under way gave the right bytes, and one after it. */
  duringEqual: boolean;
  afterEqual: boolean;
  milliseconds: number;
}

export interface Opened {
  backend: BackendInfo;
  timing: Timing | null;
}

type Call<A, R, P = never> = { argument: A; answer: R; progress: P };

/** The calls of the worker. */
export type PressCalls = {
  open: Call<EngineChoice, Opened>;
  capabilities: Call<EngineChoice, Capabilities>;
  generate: Call<{ sample: Sample; bytes: number }, Blob, { bytes: number }>;
  compress: Call<{ file: Blob; options: FileOptions }, FileResult, FileProgress>;
  decompress: Call<{ file: Blob; choice: EngineChoice }, FileResult, FileProgress>;
  map: Call<{ owner: string; file: Blob; pageSize: number; choice: EngineChoice }, PageMap, { bytes: number }>;
  page: Call<{ owner: string; page: number }, PageDetail>;
  sweep: Call<{ file: Blob | null; mostBytes: number; allowSoftware: boolean }, SweepResult, SweepPoint>;
  inspect: Call<{ file: Blob }, FramePart[], { bytes: number }>;
  corrupt: Call<{ file: Blob; offset: number; choice: EngineChoice }, CorruptResult, { done: number; of: number }>;
  lose: Call<{ allowSoftware: boolean }, LossResult>;
};
