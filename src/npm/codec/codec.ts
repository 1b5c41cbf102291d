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

/** The result of a call, and where its time went. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** A session that compresses a frame part by part. */
export interface Compression {
  /** Bytes of content of every part but the last, which may be shorter. */
  readonly partBytes: number;
  /** Bytes of content that are compressed so far, and of the frame. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Compresses the next part, and returns the bytes of the frame that are complete, which may be none yet. The last part ends
   * the frame. The caller does not change `content` before the promise settles. */
  push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>>;
  free(): void;
}

/** Returns `session` with another `push`. */
export function withPush(session: Omit<Compression, "push">, push: Compression["push"]): Compression {
  return {
    partBytes: session.partBytes,
    get bytesIn() {
      return session.bytesIn;
    },
    get bytesOut() {
      return session.bytesOut;
    },
    push,
    free: () => session.free(),
  };
}

/** Compresses and decompresses on an engine, one call at a time. */
export interface Codec {
  backend(): BackendInfo | undefined;
  device(): Device | null;
  memory?(): GpuMemory | null;
  /** Opens the engine again if it stopped. */
  revive?(): Promise<void>;
  /** Times both engines where there are two. */
  calibrate?(): Promise<Calibration | null>;
  compress(bytes: Uint8Array, options: Required<FrameOptions>, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>>;
  decompress(bytes: Uint8Array, target: OutputTarget, job: Job): Promise<Outcome<Bytes>>;
  /** Begins a frame. `contentSize` is -1 if it is not known. */
  beginCompression(options: Required<FrameOptions>, contentSize: number): Promise<Compression>;
  compressPages(bytes: Uint8Array, pageSize: number, level: Level, job: Job): Promise<Outcome<PackedPages>>;
  /** A page that is wrong is an error if `isStrict`, else a status. */
  decompressPages(pages: PackedPagesInput, isStrict: boolean, job: Job): Promise<Outcome<CheckedPages>>;
  /** Null without a device. */
  resident(): ResidentCodec | null;
  close(): void;
}

/** Compresses and decompresses buffers of a device. */
export interface ResidentCodec {
  /** `make` returns a buffer of that many bytes for output. */
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
