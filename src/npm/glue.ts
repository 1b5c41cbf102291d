import type { BackendInfo, Calibration, CheckedPages, Device, PackedPages, Timing } from "./types.js";

/** What a call of a module gives. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** A call under way in a module. */
export interface Call<T> {
  /** The outcome; or undefined if the call waits, and `wake` is called when it is time to poll again. */
  poll(wake: () => void): Outcome<T> | undefined;
  free(): void;
}

/** The codec of a module. It takes one call at a time. */
export interface Codec {
  /** Times both engines where there are two. */
  calibrate?(): Promise<Calibration | null>;
  backend(): BackendInfo | undefined;
  device(): Device | null;
  close(): void;
  free(): void;
  compress(
    bytes: Uint8Array,
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
  ): Call<Uint8Array<ArrayBuffer>>;
  decompress(bytes: Uint8Array, maxOutputSize: number): Call<Uint8Array<ArrayBuffer>>;
  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages>;
  decompressPages(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<Uint8Array<ArrayBuffer>>;
  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages>;
}

/** What a module has to put the blocks of workers together to frames. */
export interface FrameParts {
  /** The header of a frame; with its content size if that is given. */
  frameHeader(
    blockSize: number,
    contentChecksum: boolean,
    blockChecksums: boolean,
    contentSize: number | undefined,
  ): Uint8Array;
  /** The checksum of a content that comes in parts. */
  ContentSum: new () => { add(part: Uint8Array): void; value(): number; free(): void };
}

/** A module, as its generated JavaScript exports it. */
export interface Glue extends FrameParts {
  default(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;
  Codec: {
    open(backend: string, powerPreference: string, allowSoftware: boolean): Promise<Codec>;
  };
}
