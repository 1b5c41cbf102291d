// What the page and its worker say to each other. Times are in milliseconds, sizes in bytes.
import type { Compressor } from "pagepress";

/** The engine that runs, as the package reports it. */
export type Backend = Compressor["backend"];

/** Measured phases of a call, as the package reports them. */
export type Timing = Compressor["lastTiming"];

export interface EngineChoice {
  backend: "auto" | "webgpu" | "cpu";
  allowSoftware: boolean;
}

export interface CompressChoice {
  blockSize: number;
  level: "fast" | "high";
}

export type Sample = "text" | "json" | "memory" | "random";

/** An outcome of compression; `verified`: the output was decompressed and equals the input. */
export interface Compressed {
  output: Blob;
  compressMs: number;
  decompressMs: number;
  verified: boolean;
  backend: Backend;
  timing: Timing;
}

export interface Decompressed {
  output: Blob;
  decompressMs: number;
  backend: Backend;
  timing: Timing;
}

/** CompressionStream's gzip on the first `inputBytes` of the same data. */
export interface Gzipped {
  inputBytes: number;
  outputBytes: number;
  compressMs: number;
  decompressMs: number;
}

/** Every call of the worker: its argument and its answer. */
export interface Calls {
  open: { argument: EngineChoice; answer: Backend };
  generate: { argument: { sample: Sample; size: number }; answer: Blob };
  compress: { argument: { file: Blob; choice: CompressChoice }; answer: Compressed };
  decompress: { argument: { file: Blob; maxOutputSize: number }; answer: Decompressed };
  gzip: { argument: { file: Blob }; answer: Gzipped };
}

export type CallName = keyof Calls;

export interface Request<Name extends CallName = CallName> {
  id: number;
  name: Name;
  argument: Calls[Name]["argument"];
}

export interface Failure {
  code: string;
  message: string;
}

export type Reply =
  | { id: number; stage: string }
  | { id: number; answer: Calls[CallName]["answer"] }
  | { id: number; failure: Failure };
