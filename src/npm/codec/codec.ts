import type { OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import type {
  BackendInfo,
  Calibration,
  CheckedPages,
  Device,
  DeviceBuffer,
  FrameOptions,
  GpuMemory,
  PackedPages,
  PackedPagesInput,
  ResidentPart,
  Timing,
  Level,
} from "../base/types.js";

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
  decompress(bytes: Uint8Array, target: OutputTarget, job: Job): Promise<Outcome<Bytes>>;
  /** Begins a frame whose content comes in pieces; -1 for a `contentSize` that is not known. */
  beginCompression(options: Required<FrameOptions>, contentSize: number): Promise<Compression>;
  compressPages(bytes: Uint8Array, pageSize: number, level: Level, job: Job): Promise<Outcome<PackedPages>>;
  /** Pages that are wrong are an error if `isStrict`. */
  decompressPages(pages: PackedPagesInput, isStrict: boolean, job: Job): Promise<Outcome<CheckedPages>>;
  /** Null without a device. */
  resident(): ResidentCodec | null;
  close(): void;
}

/** What a codec with a device does with buffers on it. */
export interface ResidentCodec {
  /** `make` makes a buffer of so many bytes for what is to stay. */
  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: Level,
    make: (bytes: number) => DeviceBuffer,
    job: Job,
  ): Promise<Outcome<ResidentPart[]>>;
  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer, job: Job): Promise<Outcome<null>>;
}
