import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import { PagepressError } from "../base/errors.js";
import type { Job } from "../base/job.js";
import type { Device, DeviceBuffer, Level, PackedPages, PackedPagesInput, ResidentContent, ResidentPart } from "../base/types.js";
import type { Codec, Outcome, ProgressOf, ResidentCodec } from "../codec/codec.js";
import { gpuTiming } from "../codec/gpu-timing.js";
import { levelNumber } from "../modules/enums.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import type { GpuModule } from "../modules/load.js";
import type { GpuContent, GpuTarget } from "../wasm/gpu.js";

/** Compressed pages in GPU memory. Created by `compressResident`. */
export class ResidentPages {
  /** The pages in order, split into parts that fit in the device's largest buffer binding. */
  readonly parts: readonly ResidentPart[];
  /** Bytes of a page; the last page may be shorter. */
  readonly pageSize: number;
  /** Total bytes of all pages. */
  readonly byteLength: number;
  /** Compression ratio: bytes of pages divided by bytes of blocks and table; 1 if there are no pages. */
  readonly ratio: number;
  /** Id of the dictionary of the pages; 0 if they have none, or one with the id 0. */
  readonly dictionaryId: number;
  readonly #module: GpuModule;
  readonly #device: Device;

  /** @internal */
  constructor(
    module: GpuModule,
    device: Device,
    parts: readonly ResidentPart[],
    pageSize: number,
    byteLength: number,
    ratio: number,
    dictionaryId: number,
  ) {
    this.#module = module;
    this.#device = device;
    this.parts = parts;
    this.pageSize = pageSize;
    this.byteLength = byteLength;
    this.ratio = ratio;
    this.dictionaryId = dictionaryId;
  }

  /** Copies blocks and table to arrays, for `decompressPages` or for storage. */
  async read(): Promise<PackedPages> {
    const { parts, pageSize, byteLength, ratio, dictionaryId } = this;
    const { packed, table } = await this.#module.call((gpu) => gpu.readParts(this.#device, parts, pageSize));
    return { packed, table, pageSize, byteLength, ratio, dictionaryId };
  }

  /** Calls `destroy`, for `using`. */
  [disposal](): void {
    this.destroy();
  }

  /** Frees the buffers of all parts. */
  destroy(): void {
    this.#module.run((gpu) => gpu.destroyBuffers(buffersOf(this.parts)));
  }
}

/** Compresses the first `byteLength` bytes of `buffer`. */
export async function compressResident(
  codec: Codec,
  buffer: DeviceBuffer,
  byteLength: number,
  pageSize: number,
  level: Level,
  job: Job,
  dictionary: DictionaryModule | undefined,
): Promise<Outcome<ResidentPages>> {
  const resident = residentOf(codec);
  const { module } = resident;
  const { parts, ratio, timing } = await resident.call(
    job,
    unreported,
    (gpu) => gpu.compressResident(buffer, byteLength, pageSize, levelNumber(level, "fast"), resident.taken(dictionary)),
    (made) => module.run((gpu) => gpu.destroyBuffers(buffersOf(made.parts))),
  );
  const device = codec.device?.() as Device;
  const value = new ResidentPages(module, device, parts, pageSize, byteLength, ratio, dictionary?.dictionaryId ?? 0);
  job.report(byteLength, parts.reduce((sum, part) => sum + part.packedBytes, 0), "webgpu");
  return { value, timing: gpuTiming(timing) };
}

/** Decompresses pages, or the frames in an array, to a buffer. Frames that the GPU does not support are decompressed by
 * `codec` and uploaded. */
export async function decompressResident(
  codec: Codec,
  input: ResidentPages | PackedPagesInput | Uint8Array,
  target: GpuTarget,
  job: Job,
  dictionary: DictionaryModule | undefined,
): Promise<Outcome<ResidentContent>> {
  const resident = residentOf(codec);
  const destroyNew = (content: GpuContent | undefined): void => {
    if (content && !target.buffer) resident.module.run((gpu) => gpu.destroyBuffers([content.buffer]));
  };
  const content = await resident.call(
    job,
    unreported,
    (gpu, onProgress) => {
      const taken = resident.taken(dictionary);
      if (input instanceof ResidentPages) return gpu.decompressParts(input.parts, input.pageSize, target, taken);
      if (input instanceof Uint8Array) return gpu.decompressFrameTo(input, target, onProgress, taken);
      return gpu.decompressPagesTo(input.packed, input.table, input.pageSize, input.byteLength, target, onProgress, taken);
    },
    destroyNew,
  );
  if (content) {
    const { buffer, byteLength, timing } = content;
    job.report(input instanceof Uint8Array ? input.length : byteLength, byteLength, "webgpu");
    return { value: { buffer, byteLength }, timing: gpuTiming(timing) };
  }
  const { value, timing } = await codec.decompress(input as Uint8Array, { limit: target.maxOutputSize }, job, dictionary);
  const { buffer, byteLength } = await resident.call(job, unreported, (gpu) => gpu.upload(value, target), destroyNew);
  return { value: { buffer, byteLength }, timing };
}

/** Returns the length of a `GPUBuffer` in bytes; throws `INVALID_ARGUMENT` for anything else. */
export function sizeOf(name: string, buffer: DeviceBuffer): number {
  const { size } = (buffer ?? {}) as { readonly size?: unknown };
  return typeof size === "number" ? size : fail(name, typeof buffer, "give a GPUBuffer");
}

/** Progress of calls on buffers, which report only their end. */
const unreported: ProgressOf = () => [0, 0];

function buffersOf(parts: readonly ResidentPart[]): DeviceBuffer[] {
  return parts.flatMap(({ packed, table }) => [packed, table]);
}

/** Returns the GPU part of `codec`; throws `BACKEND_UNAVAILABLE` if it has none. */
function residentOf(codec: Codec): ResidentCodec {
  const resident = codec.resident?.();
  if (resident) return resident;
  throw new PagepressError("BACKEND_UNAVAILABLE", "this compressor runs on the CPU, which has no GPUBuffers");
}
