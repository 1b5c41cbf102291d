import type {
  BackendInfo,
  Calibration,
  CheckedPages,
  Device,
  DeviceBuffer,
  Engine,
  FrameOptions,
  PackedPages,
  ResidentPart,
  Timing,
} from "./types.js";

/** What a call of a module gives. */
export interface Outcome<T> {
  value: T;
  timing: Timing;
}

/** A call under way in a module. */
export interface Call<T> {
  /** The outcome; or undefined if the call waits, and `wake` is called when it is time to poll again. */
  poll(wake: () => void): Outcome<T> | undefined;
  /** Has the next poll throw `CANCELLED`. */
  cancel(): void;
  /** Bytes of input done and of output made, where the call tells; else 0. */
  bytesIn(): number;
  bytesOut(): number;
  /** Who did it. */
  engine(): Engine;
  free(): void;
}

/** A frame that is being compressed. It holds content until a part of it is compressed. */
export interface Compression {
  /** Has parts be put to where `room` says, if they fit there. */
  into?(room: () => Uint8Array<ArrayBuffer> | undefined): void;
  /** Takes what fits of `content`, and says how many bytes. */
  add(content: Uint8Array): number;
  /** Whether it takes no more until it is compressed. */
  isFull(): boolean;
  bytesIn(): number;
  bytesOut(): number;
  free(): void;
}

/** Frames that are being decompressed. */
export interface Decompression {
  /** Has content go to `sink`, which copies it, and outcomes only say whether there was some. */
  into(sink: (content: Uint8Array) => void): void;
  /** Takes the start of `input`, and says how many bytes. */
  add(input: Uint8Array): number;
  /** Whether there is enough input to be worth a call. */
  isFull(): boolean;
  /** Throws what is wrong at the end of the input. */
  end(): void;
  bytesIn(): number;
  bytesOut(): number;
  free(): void;
}

/** What is about to be done with a frame; -1 for a length that is not known. */
export type Task =
  | { kind: "compress"; length: number; blockSize: number; level: string }
  | { kind: "decompress"; length: number; start: Uint8Array | undefined };

/** The codec of a module. It takes one call at a time. */
export interface Codec extends Partial<ResidentCodec> {
  /** Opens an engine anew whose module stopped. */
  revive?(): Promise<void>;
  /** Times both engines where there are two. */
  calibrate?(): Promise<Calibration | null>;
  /** Chooses an engine for the frames begun next, where there are two. */
  prepare?(task: Task): Promise<void>;
  /** Whether work that failed so is to be done again, on another engine. */
  giveUp?(error: unknown): boolean;
  /** A whole frame, for codecs with a better way than part by part; undefined if not for this one. A call that throws
   * `NotThisWay` leaves it to that way. */
  compressFrame?(bytes: Uint8Array, options: Required<FrameOptions>): Call<Uint8Array<ArrayBuffer>> | undefined;
  decompressFrames?(bytes: Uint8Array, maxOutputSize: number): Call<Uint8Array<ArrayBuffer>> | undefined;
  backend(): BackendInfo | undefined;
  device(): Device | null;
  close(): void;
  free(): void;
  /** `contentSize` is -1 if it is not known. A stream takes smaller parts than a call. */
  beginCompression(options: Required<FrameOptions>, contentSize: number, isStream: boolean): Compression;
  /** Compresses what the session holds, and gives what there is of the frame, which may be nothing yet; the last part ends
   * the frame. */
  compressPart(session: Compression, isLast: boolean): Call<Uint8Array<ArrayBuffer>>;
  beginDecompression(maxOutputSize: number, isStream: boolean): Decompression;
  /** Decompresses some of what the session holds; null if nothing can be made of it before more comes. */
  decompressPart(session: Decompression): Call<Uint8Array<ArrayBuffer> | null>;
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

/** What a codec with a device does with buffers on it. */
export interface ResidentCodec {
  /** `make` makes a buffer of so many bytes for what is to stay. */
  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: string,
    make: (bytes: number) => DeviceBuffer,
  ): Call<ResidentPart[]>;
  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer): Call<null>;
}

/** What a module has to take frames apart, and to check what workers made of them. */
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

/** A start and an end. */
export type Range = Iterable<number> & readonly [start: number, end: number];

/** Where the blocks of a file are, as far as it is known. */
export interface FrameMap {
  /** Whether it was lost with the instance of the module that it was in. */
  readonly isLost: boolean;
  /** The bytes to supply next for the content up to `end` to be mapped; undefined if it is, or if it ends before. */
  wanted(end: number): Range | undefined;
  supply(bytes: Uint8Array): void;
  mappedBytes(): number;
  hasIndex(): boolean;
  /** Begins to read content that is mapped. */
  read(start: number, end: number): ContentRead;
  free(): void;
}

/** Reading a part of the content. */
export interface ContentRead {
  /** The bytes to supply next; undefined if all is read. */
  wanted(map: FrameMap): Range | undefined;
  supply(map: FrameMap, bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  free(): void;
}
