import type { Room } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type {
  BackendInfo,
  Calibration,
  CheckedPages,
  Device,
  FrameOptions,
  GpuMemory,
  PackedPages,
  PackedPagesInput,
  Timing,
  Level,
} from "../base/types.js";
import type { GpuModule } from "../modules/load.js";
import type * as Gpu from "../wasm/gpu.js";

/** What a call gives. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** A frame whose content comes in parts. */
export interface Compression {
  /** Bytes of content of every part but the last, which is shorter. */
  readonly partBytes: number;
  /** Bytes of content that are compressed, and of the frame. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Compresses the next part, and gives the bytes of the frame that are complete, which may be none yet; the last part ends
   * the frame. `content` is left alone until then. */
  push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>>;
  free(): void;
}

/** What compresses and decompresses on one engine. It takes one call at a time. */
export interface Codec {
  backend(): BackendInfo | undefined;
  device(): Device | null;
  memory?(): GpuMemory | null;
  /** Opens an engine anew that stopped. */
  revive?(): Promise<void>;
  /** Times both engines where there are two. */
  calibrate?(): Promise<Calibration | null>;
  compress(bytes: Uint8Array, options: Required<FrameOptions>, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>>;
  decompress(bytes: Uint8Array, room: Room, job: Job): Promise<Outcome<Bytes>>;
  /** Begins a frame whose content comes in pieces; -1 for a `contentSize` that is not known. */
  beginCompression(options: Required<FrameOptions>, contentSize: number): Promise<Compression>;
  compressPages(bytes: Uint8Array, pageSize: number, level: Level, job: Job): Promise<Outcome<PackedPages>>;
  /** Pages that are wrong are an error if `isStrict`. */
  decompressPages(pages: PackedPagesInput, isStrict: boolean, job: Job): Promise<Outcome<CheckedPages>>;
  /** Null without a device. */
  resident(): ResidentCodec | null;
  close(): void;
}

/** Returns bytes of input done and of output made, of a call with so many bytes of pages done and of their blocks. */
export type ProgressOf = (pageBytes: number, blockBytes: number) => [bytesIn: number, bytesOut: number];

/** The part of a codec that runs on a GPU. */
export interface ResidentCodec {
  readonly module: GpuModule;
  /** Calls the module. `onProgress` reports what `progressOf` returns, and cancels the call once the job is stopped; `undo`
   * frees the result of one that was stopped too late. */
  call<T>(
    job: Job,
    progressOf: ProgressOf,
    work: (gpu: Gpu.GpuCodec, onProgress: Gpu.GpuProgress) => Promise<T>,
    undo?: (made: T) => void,
  ): Promise<T>;
}
