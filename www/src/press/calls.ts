// The calls of the worker that runs Pagepress. Times are in milliseconds, sizes in bytes.
import type { BackendInfo, Calibration, Capabilities, DeviceCounters, Engine, Level, Timing } from "pagepress";
import type { FramePart } from "../lz4/frame";
import type { Times } from "../measure/stats";

export interface EngineChoice {
  backend: "auto" | Engine;
  allowSoftware: boolean;
}

export interface FileOptions extends EngineChoice {
  blockSize: number;
  level: Level;
  index: boolean;
}

/** The progress of a call through a file. */
export interface FileProgress {
  stage: "compressing" | "decompressing" | "checking";
  bytesIn: number;
  bytesOut: number;
  totalBytes: number;
}

/** A digest of content, in hexadecimal. */
export interface Digest {
  hex: string;
  /** SHA-256 of all bytes, or over the digests of 4 MiB pieces. Pages without https have no SHA-256 and use XXH32. */
  kind: "sha256" | "sha256-of-pieces" | "xxh32-of-pieces";
}

export interface FileResult {
  output: Blob;
  inputBytes: number;
  outputBytes: number;
  milliseconds: number;
  digest: Digest;
  /** The digest of the output after decompression; null if the input itself was decompressed. */
  roundTrip: Digest | null;
  /** The engine that ran, and the reason for its choice. */
  engine: Engine;
  reason: string;
}

export type Sample = "json" | "text" | "source" | "memory" | "random" | "zeros";

/** The kinds of pages, indexed by their number in the table of a batch. */
export const PAGE_KINDS = ["lz4", "stored", "fill"] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** The kinds and sizes of all pages of a batch. */
export interface PageMap {
  pageSize: number;
  byteLength: number;
  /** The kind of each page, as an index into `PAGE_KINDS`. */
  kinds: Uint8Array<ArrayBuffer>;
  /** The bytes of the block of each page. */
  lengths: Uint32Array<ArrayBuffer>;
  packedBytes: number;
  engine: Engine;
}

export interface PageDetail {
  page: number;
  kind: PageKind;
  content: Uint8Array<ArrayBuffer>;
  /** The compressed block; for a fill page the repeated word. */
  block: Uint8Array<ArrayBuffer>;
}

/** The engines of a sweep: the package's, and the CPU without workers. */
export type SweepEngine = Engine | "one";

/** The medians of the rounds at one size. */
export interface SweepPoint extends Times {
  engine: SweepEngine;
  bytes: number;
  /** The best rounds. */
  best: Times;
  /** True if other work disturbed the measurement. */
  isBusy: boolean;
}

export interface AutoPick {
  bytes: number;
  engine: Engine;
  reason: string;
}

export interface SweepResult {
  points: SweepPoint[];
  /** The engine that `"auto"` chooses for each size. */
  picks: AutoPick[];
  calibration: Calibration | null;
  /** The reason why there are no results of a GPU; null if there are. */
  withoutGpu: string | null;
  /** Engines that were too slow for larger sizes, with the last size measured. */
  stopped: { engine: SweepEngine; bytes: number }[];
}

export interface CorruptResult {
  /** The position of the chosen byte. */
  offset: number;
  before: number;
  after: number;
  code: string;
  message: string;
  /** The number of random changes, of `nTried`, that led to each error code. */
  tally: Record<string, number>;
  nTried: number;
  /** Changes without an error that gave the right content, or wrong content. */
  unnoticed: { same: number; changed: number };
  /**
   * The same in a batch of `nPages` pages, of which page `hit` is damaged: the pages with a fault, and true if all others
   * are intact.
   */
  pages: { nPages: number; hit: number; wrong: { page: number; status: string }[]; othersIntact: boolean };
}

export interface LossResult {
  before: BackendInfo;
  after: BackendInfo;
  counters: DeviceCounters;
  /** The losses that the package reported to `onDeviceLost`. */
  lossMessages: string[];
  /** True if the interrupted call returned the right bytes, and if the next call did. */
  duringEqual: boolean;
  afterEqual: boolean;
  milliseconds: number;
}

/** The outcome of cancelling a call on the CPU. */
export interface CancelResult {
  bytes: number;
  /** Time after which the call was cancelled, and from then until it had stopped. */
  afterMs: number;
  stoppedMs: number;
  /** The name of the error of the cancelled call. */
  error: string;
  /** True if the next call returned the right bytes. */
  afterEqual: boolean;
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
  decompress: Call<{ file: Blob; choice: EngineChoice; dictionary: Blob | null }, FileResult, FileProgress>;
  discard: Call<{ name: string }, null>;
  map: Call<{ owner: string; file: Blob; pageSize: number; choice: EngineChoice }, PageMap, { bytes: number }>;
  page: Call<{ owner: string; page: number }, PageDetail>;
  sweep: Call<{ file: Blob | null; mostBytes: number; allowSoftware: boolean }, SweepResult, SweepPoint>;
  inspect: Call<{ file: Blob }, FramePart[], { bytes: number }>;
  corrupt: Call<{ file: Blob; offset: number; choice: EngineChoice }, CorruptResult, { done: number; of: number }>;
  lose: Call<{ allowSoftware: boolean }, LossResult>;
  cancel: Call<null, CancelResult>;
};
