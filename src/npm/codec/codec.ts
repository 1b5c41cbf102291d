import type { OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type {
  BackendInfo, Calibration, CheckedPages, Device, FrameOptions, GpuMemory, PackedPages, PackedPagesInput, Timing,
} from "../base/types.js";
import type { PagesForm } from "../format/packed-pages.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import type { GpuModule } from "../modules/load.js";
import type * as Gpu from "../wasm/gpu.js";

/** The result of a call, and its timing. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** Returns `outcome` with changes of its timing. */
export function withTiming<T>({ value, timing }: Outcome<T>, changes: Partial<Timing>): Outcome<T> {
  return { value, timing: { ...timing, ...changes } };
}

/** Destination of decompressed pages: the start of `into`, which has room for them, or a new array. An invalid page is an error if
 * `isStrict`, else a status. */
export interface PagesTarget {
  readonly isStrict: boolean;
  readonly into?: Bytes | undefined;
}

/** Returns the memory of `target` for `byteLength` bytes of pages. */
export function memoryFor({ into }: PagesTarget, byteLength: number): Bytes {
  return into?.subarray(0, byteLength) ?? new Uint8Array(byteLength);
}

/** Bytes of content compressed so far, and bytes of the frame so far. */
export interface FrameProgress {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** A session that compresses a frame part by part. */
export interface Compression {
  /** Bytes of content of every part except the last, which may be shorter. */
  readonly partBytes: number;
  readonly progress: FrameProgress;
  /** Compresses the next part, and returns the bytes of the frame that are complete, which may be none yet. The last part
   * ends the frame. The caller must not change `content` before the promise settles. */
  push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>>;
  free(): void;
}

/** Returns a session that forwards to `session`, except for `push`. */
export function withPush(session: Omit<Compression, "push">, push: Compression["push"]): Compression {
  return { partBytes: session.partBytes, progress: session.progress, push, free: () => session.free() };
}

/** Compresses and decompresses on an engine, one call at a time, with or without a dictionary. Codecs of the CPU have no device and no
 * resident part. */
export interface Codec {
  backend(): BackendInfo | undefined;
  device?(): Device | null;
  memory?(): GpuMemory | null;
  /** Opens the engine again if it stopped. */
  revive?(): Promise<void>;
  /** Times both engines if there are two. */
  calibrate?(): Promise<Calibration | null>;
  compress(
    bytes: Uint8Array,
    options: Required<FrameOptions>,
    maxOutputSize: number,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<Bytes>>;
  decompress(bytes: Uint8Array, target: OutputTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<Bytes>>;
  /** Begins a frame. `contentSize` is -1 if it is unknown. */
  beginCompression(options: Required<FrameOptions>, contentSize: number, dictionary?: DictionaryModule): Promise<Compression>;
  compressPages(bytes: Uint8Array, form: PagesForm, job: Job, dictionary?: DictionaryModule): Promise<Outcome<PackedPages>>;
  decompressPages(pages: PackedPagesInput, target: PagesTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<CheckedPages>>;
  /** Returns the part that runs on a GPU; null once the GPU has failed. */
  resident?(): ResidentCodec | null;
  close?(): void;
}

/** Converts the progress of the GPU, in bytes of pages and of their blocks, to bytes of input and of output. */
export type ProgressOf = (pageBytes: number, blockBytes: number) => [bytesIn: number, bytesOut: number];

/** The part of a codec that runs on a GPU. */
export interface ResidentCodec {
  readonly module: GpuModule;
  /** Calls the module. `onProgress` reports the result of `progressOf`, and cancels the call once the job is aborted; `undo`
   * frees a result that arrives after the abort. */
  call<T>(
    job: Job,
    progressOf: ProgressOf,
    work: (gpu: Gpu.GpuCodec, onProgress: Gpu.GpuProgress) => Promise<T>,
    undo?: (made: T) => void,
  ): Promise<T>;
  /** Returns the dictionary in the module, for one call that takes it. */
  taken(dictionary: DictionaryModule | undefined): Gpu.GpuDictionary | undefined;
}
