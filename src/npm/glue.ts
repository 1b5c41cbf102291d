import type { BackendInfo, CheckedPages, Device, PackedPages, Timing } from "./types.js";

/** What a call of a module gives. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** The codec of a module. It takes one call at a time. */
export interface Codec {
  backend(): BackendInfo;
  device(): Device | null;
  close(): void;
  free(): void;
  compress(
    bytes: Uint8Array,
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
  ): Promise<Outcome<Uint8Array<ArrayBuffer>>>;
  decompress(bytes: Uint8Array, maxOutputSize?: number): Promise<Outcome<Uint8Array<ArrayBuffer>>>;
  compressPages(bytes: Uint8Array, pageSize: number, level: string): Promise<Outcome<PackedPages>>;
  decompressPages(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Promise<Outcome<Uint8Array<ArrayBuffer>>>;
  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Promise<Outcome<CheckedPages>>;
}

/** A module, as its generated JavaScript exports it. */
export interface Glue {
  default(options: { module_or_path: URL | BufferSource }): Promise<unknown>;
  Codec: {
    open(backend: string, powerPreference: string, allowSoftware: boolean): Promise<Codec>;
  };
}
