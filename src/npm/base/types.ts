/** The method of searching for matches. `"auto"` is the fastest level of the engine: `"fast"` on a GPU, `"sequential"` on
 * the CPU, unless the compressor is `deterministic`. `"fast"` is a greedy parse; `"high"` is slower and has the ratio of `lz4 -9`;
 * both produce the same bytes on every engine. `"sequential"` runs on CPUs only, where it is two to four times as fast as
 * `"fast"`. */
export type Level = "auto" | "fast" | "high" | "sequential";

/** Input bytes: an `ArrayBuffer`, or a view of one such as a `Uint8Array` or a `DataView`. */
export type BytesInput = ArrayBufferLike | ArrayBufferView;

/** An engine: a GPU through WebGPU, or the CPU through WebAssembly. The compressed bytes depend on it only at the level
 * `"auto"`. */
export type Engine = "webgpu" | "cpu";

/** The browser's `GPUDevice` if types for WebGPU are installed, else `object`. */
export type Device = typeof globalThis extends { GPUDevice: { prototype: infer D } } ? D : object;

/** The browser's `GPUBuffer` if types for WebGPU are installed, else `object`. */
export type DeviceBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer B } } ? B : object;

/** The browser's `Worker` if its types are installed, else `object`. */
export type PageWorker = typeof globalThis extends { Worker: { prototype: infer W } } ? W : object;

/** `WebAssembly.Module` if its type is declared, which types of Node may not do, else `object`. */
export type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer M } } } ? M : object;

export interface CompressorOptions {
  /** The engine. `"auto"` (default) uses a hardware GPU for calls on which it is measured to be faster, else the CPU. */
  backend?: "auto" | Engine;
  /** Preference among several GPUs: speed (default) or low energy consumption. */
  powerPreference?: "high-performance" | "low-power";
  /** Allows `backend: "webgpu"` to use a software adapter. Default false; `"auto"` never uses one. */
  allowSoftware?: boolean;
  /** Level of calls without the option `level`. Default `"auto"`. */
  level?: Level;
  /** Makes the compressed bytes independent of the engine: the level `"auto"`, given or by default, is `"fast"` on every
   * engine. Default false. */
  deterministic?: boolean;
  /** Maximum number of workers for work on the CPU; with 0 it runs in the calling thread. Default: one per core. */
  workers?: number;
  /** Starts a worker that runs the entry `pagepress/worker`, for bundlers that do not find the package's worker script. */
  createWorker?: () => PageWorker;
  /** Sources of the WebAssembly modules. Default: files beside the package's JavaScript. The options of the first compressor
   * apply to all. */
  modules?: Modules;
  /** Calibration from an earlier `capabilities()` on this machine, with which `"auto"` does not measure again. Ignored for
   * another adapter. */
  calibration?: Calibration | null;
  /** A `GPUDevice` of the page to run on, so that its buffers need not be copied. It is not destroyed, and not replaced if
   * it is lost. */
  device?: Device;
  /** Called when the device is lost. The running call is repeated on a new device; if that is lost too, `"auto"` continues
   * on the CPU, and `"webgpu"` rejects with `DEVICE_LOST`. */
  onDeviceLost?: (loss: DeviceLoss) => void;
}

/** Description of a device loss: `GPUDeviceLostInfo`, and the number of losses so far. */
export interface DeviceLoss {
  readonly reason: string;
  readonly message: string;
  readonly lost: number;
}

/** Numbers of lost and replaced devices. */
export interface DeviceCounters {
  /** Number of devices that were lost. */
  readonly lost: number;
  /** Number of devices that replaced another. */
  readonly replaced: number;
}

/** Milliseconds of both engines for the same bytes, at the level `"auto"`. */
export interface CalibrationRow {
  readonly bytes: number;
  readonly compressMs: Readonly<Record<Engine, number>>;
  readonly decompressMs: Readonly<Record<Engine, number>>;
}

/** Measured times of both engines. Plain data, which can be stored and passed to `createCompressor` again. */
export interface Calibration {
  /** The adapter that was measured. */
  readonly adapter: string;
  readonly rows: readonly CalibrationRow[];
  /** Number of bytes from which the GPU compresses faster; null if it never does. */
  readonly compressFrom: number | null;
  /** Number of bytes from which the GPU decompresses faster; null if it never does. */
  readonly decompressFrom: number | null;
  /** Duration of the measurement in milliseconds. */
  readonly milliseconds: number;
}

/** A WebGPU adapter. */
export interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  readonly software: boolean;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
}

/** The engines of this machine, the engine in use, and the reason for the choice. */
export interface Capabilities {
  readonly backend: BackendInfo;
  readonly adapters: readonly AdapterInfo[];
  /** Null unless the backend is `"auto"` and there is a GPU to compare. */
  readonly calibration: Calibration | null;
  readonly hardwareConcurrency: number;
  /** The same information as lines of text, for reports. */
  readonly text: string;
}

/** Source of a WebAssembly module: its URL, a `Response`, its bytes, or the compiled module. */
export type ModuleSource = LoadedSource | Promise<LoadedSource>;

type LoadedSource = string | URL | ArrayBuffer | ArrayBufferView<ArrayBuffer> | Response | CompiledModule;

/** Sources of the modules `pagepress/cpu.wasm` and `pagepress/gpu.wasm`. */
export interface Modules {
  cpu?: ModuleSource;
  gpu?: ModuleSource;
}

/** Options of `configure`. */
export interface Configuration extends Pick<CompressorOptions, "createWorker" | "workers"> {
  /** Sources of the WebAssembly modules, including `pagepress/seek.wasm` for `openFrame`, `pagepress/tensor.wasm`,
   * `pagepress/snapshot.wasm`, `pagepress/dictionary.wasm`, `pagepress/cuda.wasm`, and `pagepress/formats.wasm` for adapters. */
  modules?: Modules & { cuda?: ModuleSource; dictionary?: ModuleSource; formats?: ModuleSource; seek?: ModuleSource; snapshot?: ModuleSource; tensor?: ModuleSource };
}

/** GPU memory in bytes: of buffers in use, and of pooled buffers that are kept for later calls. */
export interface GpuMemory {
  readonly inUse: number;
  readonly pooled: number;
}

/** Progress of a call or a stream. */
export interface Progress {
  /** Bytes of input processed. Never decreases; at the end it is the length of the input. */
  readonly bytesIn: number;
  /** Bytes of output produced. */
  readonly bytesOut: number;
  /** Total bytes of input; null for a stream of unknown length. */
  readonly totalBytes: number | null;
  /** The engine that did most of the work so far. */
  readonly backend: Engine;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. The CPU stops within milliseconds; a GPU first completes the
   * jobs that it has started, of at most 32 MiB each. */
  signal?: AbortSignal | undefined;
  /** Called with the progress of the call. If it throws an error, the work stops and the call rejects with that error. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Bytes that stand before each block, so that its matches may reach into them: small contents that resemble the dictionary
 * become shorter. Created by `createDictionary` of `pagepress/dictionary`. */
export interface Dictionary {
  /** Id that frames and batches of pages state; 0 if they state none. */
  readonly id: number;
  /** Number of bytes, at most 65536. */
  readonly byteLength: number;
}

/** Options of calls that can use a dictionary. */
export interface DictionaryOption {
  /** The dictionary of the content, which decompresses only with the dictionary with which it was compressed: without it or with
   * another, frames and pages that state its id are the error `DICTIONARY_NEEDED` or `WRONG_DICTIONARY`. Records of the
   * format `"hadoop"` have none. Default: none. */
  dictionary?: Dictionary | undefined;
}

/** Options of calls that read one array. */
export interface InputOptions extends CallOptions {
  /** Transfers the array's buffer, as `postMessage` does, and frees it as soon as it has been read. Otherwise the array is
   * neither detached nor changed, and the caller must not change it until the call has settled. Default false. */
  transfer?: boolean;
}

/** Options of the frame to write. */
export interface FrameOptions {
  /** Bytes of content of a block, 4096 to 4194304. Default 65536; GPUs support 4, 8, 16, 32 and 64 KiB. */
  blockSize?: number;
  /** Default: the level of the compressor. */
  level?: Level;
  /** Appends a checksum of the content to the frame. Default true. */
  contentChecksum?: boolean;
  /** Appends a checksum to each block. Default false. */
  blockChecksums?: boolean;
  /** Appends an index of the blocks to the frame, with which `openFrame` finds any part of the content at once: 8 bytes per
   * block, which other LZ4 programs skip. Default false. */
  index?: boolean;
}

export interface OutputOptions {
  /** Maximum number of bytes of output; more is the error `OUTPUT_LIMIT`. Default and upper limit: 1 GiB. */
  maxOutputSize?: number;
}

/** Format of compressed bytes: LZ4 frames, including legacy frames; one raw LZ4 block; one block preceded by the size of its
 * content in four bytes, as `lz4_flex` and other libraries write it; or Hadoop records, `LZ4_HADOOP` of Parquet. */
export type Format = "frame" | "block" | "size-prefixed" | "hadoop";

export interface FormatOptions {
  /** Default `"frame"`. The other formats run on the CPU, and `level` is their only frame option; at the levels `"fast"` and
   * `"high"` a block holds at most 4 MiB. They cannot be detected reliably, so they are read only on request; the error
   * `NOT_LZ4` names the format that the input seems to have. */
  format?: Format;
}

export interface IntoOptions<B extends ArrayBufferLike = ArrayBuffer> {
  /** Array to decompress to, which must not overlap the input; the result is a view of its start with the length of the
   * content. Content that does not fit is the error `OUTPUT_LIMIT`; after an error the array may hold part of the content.
   * Default: a new array. */
  into?: Uint8Array<B>;
}

export interface CompressOptions extends FrameOptions, FormatOptions, InputOptions, OutputOptions, DictionaryOption {}

export interface DecompressOptions<B extends ArrayBufferLike = ArrayBuffer>
  extends FormatOptions, InputOptions, OutputOptions, IntoOptions<B>, DictionaryOption {}

export interface CompressSyncOptions extends FrameOptions, FormatOptions, OutputOptions, DictionaryOption {}

export interface DecompressSyncOptions<B extends ArrayBufferLike = ArrayBuffer>
  extends FormatOptions, OutputOptions, IntoOptions<B>, DictionaryOption {}

/** Options of `decompressPages` and `checkPages`. */
export interface DecompressPagesOptions<B extends ArrayBufferLike = ArrayBuffer> extends CallOptions, IntoOptions<B>, DictionaryOption {}

export interface CompressPagesOptions<B extends ArrayBufferLike = ArrayBuffer> extends InputOptions, DictionaryOption {
  /** Array for the blocks, which must not overlap the input; `packed` is a view of its start. Blocks that do not fit are the error
   * `OUTPUT_LIMIT`; they fit where there is room for the input, rounded up to 4 bytes. After an error the array may hold part of the
   * blocks. Default: a new array. */
  into?: Uint8Array<B>;
  /** Bytes of a page: 4096 (default), 8192, 16384, 32768 or 65536. */
  pageSize?: number;
  level?: Level;
}

/** Options of `compressResident`. */
export interface CompressResidentOptions extends CallOptions, DictionaryOption {
  /** Number of bytes to compress, from the start of the buffer. Default: the whole buffer. */
  byteLength?: number;
  /** Bytes of a page: 4096 (default), 8192, 16384, 32768 or 65536. */
  pageSize?: number;
  level?: Level;
}

/** Options of `decompressResident`. */
export interface DecompressResidentOptions extends CallOptions, OutputOptions, DictionaryOption {
  /** Buffer to decompress to, from its start: a buffer of the compressor's device with the usages `STORAGE` and `COPY_DST`,
   * at least as long as the content rounded up to 4 bytes. Default: a new buffer. */
  buffer?: DeviceBuffer;
  /** Usages of a new buffer in addition to `STORAGE`, `COPY_SRC` and `COPY_DST`, such as `GPUBufferUsage.VERTEX`. */
  usage?: number;
}

/** Content in GPU memory. */
export interface ResidentContent {
  readonly buffer: DeviceBuffer;
  /** Bytes of content, from the start of the buffer. */
  readonly byteLength: number;
}

/** Compressed pages that fit in one buffer binding. */
export interface ResidentPart {
  /** The blocks, each at a multiple of 4 bytes. */
  readonly packed: DeviceBuffer;
  readonly packedBytes: number;
  /** Two words per page, as in `PackedPages`. */
  readonly table: DeviceBuffer;
  /** Bytes of the pages. */
  readonly byteLength: number;
}

/** A batch of compressed pages. */
export interface PackedPages<B extends ArrayBufferLike = ArrayBuffer> {
  /** The blocks, each at a multiple of 4 bytes. */
  readonly packed: Uint8Array<B>;
  /** Two words per page: the offset of the block in words of 4 bytes; its length in bytes, with the kind in the two upper
   * bits (0 an LZ4 block, 1 the uncompressed page, 2 a word of 8 bytes that fills the page). */
  readonly table: Uint32Array<ArrayBuffer>;
  /** Bytes of a page; the last page may be shorter. */
  readonly pageSize: number;
  /** Total bytes of all pages. */
  readonly byteLength: number;
  /** Compression ratio: bytes of pages divided by bytes of blocks and table. */
  readonly ratio: number;
  /** Id of the dictionary of the pages; 0 if they have none, or one with the id 0. */
  readonly dictionaryId: number;
}

/** Input of `decompressPages`. Arrays may be views into a larger buffer. */
export type PackedPagesInput = Omit<Readonly<PackedPages>, "packed" | "table" | "ratio" | "dictionaryId"> & {
  readonly packed: Uint8Array;
  readonly table: Uint32Array;
  /** Default 0. */
  readonly dictionaryId?: number;
};

/** Names of the codes in `CheckedPages.status`; 0 is a valid page. */
export const PAGE_STATUS = [
  "ok",
  "truncated",
  "output-overrun",
  "zero-offset",
  "offset-too-far",
  "output-underrun",
  "bad-table-entry",
] as const;

/** Decompressed pages, with a status for each. */
export interface CheckedPages<B extends ArrayBufferLike = ArrayBuffer> {
  /** All pages; invalid pages are zeros. */
  readonly bytes: Uint8Array<B>;
  /** One code per page, an index into `PAGE_STATUS`. */
  readonly status: Uint8Array<ArrayBuffer>;
}

/** The engine in use, and the reason for the choice. */
export interface BackendInfo {
  readonly engine: Engine;
  /** Name and kind of the adapter; null on the CPU. */
  readonly adapter: string | null;
  /** True for a software adapter. */
  readonly software: boolean;
  readonly reason: string;
  /** Candidates that were rejected. */
  readonly rejected: readonly { readonly candidate: string; readonly reason: string }[];
}

/** Engine and durations of a call. Durations are in nanoseconds; null if the phase did not occur or could not be measured:
 * WebGPU has no clock for copies. */
export interface Timing {
  /** The engine of this call; with the backend `"auto"` the one that is measured to be faster. */
  readonly engine: Engine;
  readonly reason: string;
  readonly uploadNs: number | null;
  readonly kernelNs: number | null;
  readonly readbackNs: number | null;
  readonly totalNs: number;
  /** Number of workers that shared the work; undefined if it ran in the calling thread or on a GPU. */
  readonly workers?: number;
}
