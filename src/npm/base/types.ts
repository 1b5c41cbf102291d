/** How to look for matches. `"auto"` is the quickest of the engine: `"fast"` on a GPU, `"sequential"` on the CPU. `"fast"` is
 * greedy, `"high"` slower and smaller; both give the same bytes on every engine. `"sequential"` is for CPUs: there it is two
 * to four times as quick as `"fast"`, and GPUs do not take part. */
export type Level = "auto" | "fast" | "high" | "sequential";

/** Bytes as callers have them: an `ArrayBuffer`, or a view of one such as a `Uint8Array` or a `DataView`. */
export type BytesInput = ArrayBufferLike | ArrayBufferView;

/** An engine: a GPU through WebGPU, or the CPU through WebAssembly. At a level but `"auto"`, bytes do not depend on it. */
export type Engine = "webgpu" | "cpu";

/** The browser's `GPUDevice`, where types for WebGPU are installed. */
export type Device = typeof globalThis extends { GPUDevice: { prototype: infer D } } ? D : object;

/** The browser's `GPUBuffer`, likewise. */
export type DeviceBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer B } } ? B : object;

/** The `Worker` of browsers, where their types are installed. */
export type PageWorker = typeof globalThis extends { Worker: { prototype: infer W } } ? W : object;

/** A compiled module of WebAssembly, where its type is known: types of Node may not have it. */
export type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer M } } } ? M : object;

export interface CompressorOptions {
  /** `"auto"` (default) takes a hardware GPU for work on which it is measured to be faster, else the CPU. */
  backend?: "auto" | Engine;
  /** Speed (default) or battery, where there are several GPUs. */
  powerPreference?: "high-performance" | "low-power";
  /** Allows `backend: "webgpu"` to take a software adapter. Default false; `"auto"` never takes one. */
  allowSoftware?: boolean;
  /** The level of calls that name none. Default `"auto"`. */
  level?: Level;
  /** Most workers for the CPU's part of the work: 0 has it done in place. Default: one a core. */
  workers?: number;
  /** Starts a worker that runs the entry `pagepress/worker`, where a bundler does not find the package's own. */
  createWorker?: () => PageWorker;
  /** Sources of the WebAssembly, if not beside the package's JavaScript. The first compressor opened decides for all. */
  modules?: Modules;
  /** An earlier measurement by `capabilities()` on this machine, which `"auto"` then does not repeat. */
  calibration?: Calibration | null;
  /** A device of the page's own, to run on; buffers of it need not be copied. It is neither destroyed nor, once it is lost,
   * replaced. */
  device?: Device;
  /** Told when the device is lost. The call under way is repeated on a new one; if that is lost too, `"auto"` goes on
   * with the CPU, and `"webgpu"` rejects with `DEVICE_LOST`. */
  onDeviceLost?: (loss: DeviceLoss) => void;
}

/** The loss of a device: `GPUDeviceLostInfo`, and the number of losses so far. */
export interface DeviceLoss {
  readonly reason: string;
  readonly message: string;
  readonly lost: number;
}

/** Counts of devices. */
export interface DeviceCounters {
  /** Devices that were lost. */
  readonly lost: number;
  /** Devices that took the place of others. */
  readonly replaced: number;
}

/** Milliseconds of both engines for the same work, at the level `"auto"`. */
export interface CalibrationRow {
  readonly bytes: number;
  readonly compressMs: Readonly<Record<Engine, number>>;
  readonly decompressMs: Readonly<Record<Engine, number>>;
}

/** Measurements of both engines. Plain data, which can be stored and passed to `createCompressor` again. */
export interface Calibration {
  /** The adapter that it holds for. */
  readonly adapter: string;
  readonly rows: readonly CalibrationRow[];
  /** Bytes from which the GPU compresses faster; null if it never does. */
  readonly compressFrom: number | null;
  /** Bytes from which the GPU decompresses faster; null if it never does. */
  readonly decompressFrom: number | null;
  /** Duration of the measurement. */
  readonly milliseconds: number;
}

/** An adapter of WebGPU. */
export interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  readonly software: boolean;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
}

/** The engines of this machine, the one in use, and the reason. */
export interface Capabilities {
  readonly backend: BackendInfo;
  readonly adapters: readonly AdapterInfo[];
  /** Null unless `"auto"` has a GPU to weigh. */
  readonly calibration: Calibration | null;
  readonly hardwareConcurrency: number;
  /** All of it as lines of text, to be copied into a report. */
  readonly text: string;
}

/** Something to get WebAssembly from: its place, its bytes, or itself. */
export type ModuleSource = LoadedSource | Promise<LoadedSource>;

type LoadedSource = string | URL | ArrayBuffer | ArrayBufferView<ArrayBuffer> | Response | CompiledModule;

/** The modules `pagepress/cpu.wasm` and `pagepress/gpu.wasm`. */
export interface Modules {
  cpu?: ModuleSource;
  gpu?: ModuleSource;
}

/** Options of `configure`. */
export interface Configuration extends Pick<CompressorOptions, "createWorker" | "workers"> {
  /** Sources of the WebAssembly, `pagepress/seek.wasm` for `openFrame` and `pagepress/tensor.wasm` included. */
  modules?: Modules & { seek?: ModuleSource; tensor?: ModuleSource };
}

/** GPU memory in bytes: of buffers in use, and of those kept for later calls. */
export interface GpuMemory {
  readonly inUse: number;
  readonly pooled: number;
}

/** Progress of a call or a stream. */
export interface Progress {
  /** Bytes of input done. Never decreases; at the end all of them. */
  readonly bytesIn: number;
  /** Bytes of output made. */
  readonly bytesOut: number;
  /** Bytes of input in all; null for a stream of unknown length. */
  readonly totalBytes: number | null;
  /** The engine that did most of it so far. */
  readonly backend: Engine;
}

/** Options of every call. */
export interface CallOptions {
  /** Stops the work, and rejects with the signal's reason: the CPU stops within milliseconds, a GPU after the jobs of
   * at most 32 MiB that it has begun. */
  signal?: AbortSignal | undefined;
  /** Is told how far the call is. An error that it throws stops the work and is what the call rejects with. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Options of calls that read one array. */
export interface InputOptions extends CallOptions {
  /** Takes the array's buffer away from the caller, as `postMessage` does, and frees it as soon as it is read. Without
   * it the array is neither detached nor changed; leave it as it is until the call is done. Default false. */
  transfer?: boolean;
}

/** The frame to write. */
export interface FrameOptions {
  /** Content of a block in bytes, 4096 to 4194304. Default 65536; GPUs take 4, 8, 16, 32 and 64 KiB. */
  blockSize?: number;
  /** Default: the compressor's. */
  level?: Level;
  /** Appends a checksum of the content to the frame. Default true. */
  contentChecksum?: boolean;
  /** Appends a checksum to each block. Default false. */
  blockChecksums?: boolean;
  /** Whether an index of the blocks follows the frame, so that `openFrame` finds any part of the content at once: 8 bytes
   * a block, which other LZ4 programs skip. Default false. */
  index?: boolean;
}

export interface OutputOptions {
  /** Most bytes to give; more is the error `OUTPUT_LIMIT`. Default, and never more than: 1 GiB. */
  maxOutputSize?: number;
}

/** What compressed bytes are: LZ4 frames, which includes legacy ones; one raw LZ4 block; one block after the size of its
 * content in four bytes, as `lz4_flex` and other libraries write it; or records of Hadoop, `LZ4_HADOOP` of Parquet. */
export type Format = "frame" | "block" | "size-prefixed" | "hadoop";

export interface FormatOptions {
  /** Default `"frame"`. The others are the CPU's, and take of the options of a frame `level` alone; at the levels `"fast"` and
   * `"high"` a block holds at most 4 MiB. They cannot be told apart for sure, so they are read only when asked for; the error
   * `NOT_LZ4` says what the input seems to be. */
  format?: Format;
}

export interface IntoOptions<B extends ArrayBufferLike = ArrayBuffer> {
  /** An array apart from the input to decompress to; the result is the part of it, from its start, that the content takes.
   * Content that does not fit is the error `OUTPUT_LIMIT`; after an error the array may hold part of it. Default: a new one. */
  into?: Uint8Array<B>;
}

export interface CompressOptions extends FrameOptions, FormatOptions, InputOptions, OutputOptions {}

export interface DecompressOptions<B extends ArrayBufferLike = ArrayBuffer>
  extends FormatOptions, InputOptions, OutputOptions, IntoOptions<B> {}

export interface CompressSyncOptions extends FrameOptions, FormatOptions, OutputOptions {}

export interface DecompressSyncOptions<B extends ArrayBufferLike = ArrayBuffer> extends FormatOptions, OutputOptions, IntoOptions<B> {}

export interface CompressPagesOptions extends InputOptions {
  /** Bytes in a page: 4096 (default), 8192, 16384, 32768 or 65536. */
  pageSize?: number;
  level?: Level;
}

/** Options of `compressResident`. */
export interface CompressResidentOptions extends CallOptions {
  /** Bytes of the buffer to compress, from its start. Default: all. */
  byteLength?: number;
  /** Bytes in a page: 4096 (default), 8192, 16384, 32768 or 65536. */
  pageSize?: number;
  level?: Level;
}

/** Options of `decompressResident`. */
export interface DecompressResidentOptions extends CallOptions, OutputOptions {
  /** Where the content goes, from its start: a buffer of the compressor's device with the usages `STORAGE` and
   * `COPY_DST`, as long as the content rounded up to 4 bytes. Default: a new one. */
  buffer?: DeviceBuffer;
  /** Usages of a new buffer, beside `STORAGE`, `COPY_SRC` and `COPY_DST`: `GPUBufferUsage.VERTEX`, for instance. */
  usage?: number;
}

/** Content in GPU memory. */
export interface ResidentContent {
  readonly buffer: DeviceBuffer;
  /** Bytes of content, from the start of the buffer. */
  readonly byteLength: number;
}

/** Compressed pages that one binding holds. */
export interface ResidentPart {
  /** The blocks, each at a multiple of 4 bytes. */
  readonly packed: DeviceBuffer;
  readonly packedBytes: number;
  /** Two words a page, as in `PackedPages`. */
  readonly table: DeviceBuffer;
  /** Bytes of the pages. */
  readonly byteLength: number;
}

/** A batch of compressed pages. */
export interface PackedPages {
  /** The blocks, each at a multiple of 4 bytes. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** Two words a page: offset of the block in words of 4 bytes; length in bytes, with the kind in its two upper bits
   * (0 an LZ4 block, 1 the page itself, 2 a word of 8 bytes that fills the page). */
  readonly table: Uint32Array<ArrayBuffer>;
  /** Bytes in a page; the last one may be shorter. */
  readonly pageSize: number;
  /** Bytes in all pages together. */
  readonly byteLength: number;
  /** Bytes of pages over bytes of blocks and table. */
  readonly ratio: number;
}

/** Input of `decompressPages`. Arrays may be views into a larger buffer. */
export type PackedPagesInput = Omit<Readonly<PackedPages>, "packed" | "table" | "ratio"> & {
  readonly packed: Uint8Array;
  readonly table: Uint32Array;
};

/** Errors of pages by their number in `status`; 0 is a valid page. */
export const PAGE_STATUS = [
  "ok",
  "truncated",
  "output-overrun",
  "zero-offset",
  "offset-too-far",
  "output-underrun",
  "bad-table-entry",
] as const;

/** Pages, with what is wrong with each. */
export interface CheckedPages {
  /** All pages; those that are wrong are zeros. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** A number for each page: its place in `PAGE_STATUS`. */
  readonly status: Uint8Array<ArrayBuffer>;
}

/** The engine in use, and why. */
export interface BackendInfo {
  readonly engine: Engine;
  /** Name and kind of the adapter; null on the CPU. */
  readonly adapter: string | null;
  /** True for a software adapter. */
  readonly software: boolean;
  readonly reason: string;
  /** Candidates that were not taken. */
  readonly rejected: readonly { readonly candidate: string; readonly reason: string }[];
}

/** How a call was run. Nanoseconds; null where there was nothing to measure, or nothing to measure with: WebGPU has no
 * clock for copies. */
export interface Timing {
  /** The engine of this call: in `"auto"` mode the one that is measured to be faster. */
  readonly engine: Engine;
  readonly reason: string;
  readonly uploadNs: number | null;
  readonly kernelNs: number | null;
  readonly readbackNs: number | null;
  readonly totalNs: number;
  /** Workers that shared the work; none if it ran where it was called, or on a GPU. */
  readonly workers?: number;
}
