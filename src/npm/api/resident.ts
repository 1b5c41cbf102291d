import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import type { Job } from "../base/job.js";
import type { Device, DeviceBuffer, PackedPages, PackedPagesInput, ResidentContent, ResidentPart, Level } from "../base/types.js";
import type { Codec, Outcome, ResidentCodec } from "../codec/codec.js";
import { destroyBuffers, filledBuffer, makeBuffer, mostBytes, readBuffers, sizeOf, wholeWords, writeBuffer } from "../codec/device-buffers.js";
import { joinPages, ratioOf, type Share } from "../format/packed-pages.js";
import { framePages } from "../frame/pages.js";
import { loadedCpu } from "../modules/load.js";

/** Compressed pages in GPU memory. Made by `compressResident`. */
export class ResidentPages {
  /** The pages in order, in as many parts as the device's largest binding makes necessary. */
  readonly parts: readonly ResidentPart[];
  /** Bytes in a page; the last one may be shorter. */
  readonly pageSize: number;
  /** Bytes in all pages together. */
  readonly byteLength: number;
  readonly #device: Device;

  /** @internal */
  constructor(device: Device, parts: readonly ResidentPart[], pageSize: number) {
    this.#device = device;
    this.parts = parts;
    this.pageSize = pageSize;
    this.byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** Bytes of pages over bytes of blocks and table; 1 for no pages. */
  get ratio(): number {
    const stored = this.parts.reduce((sum, part) => sum + part.packedBytes + this.#tableBytes(part), 0);
    return ratioOf(this.byteLength, stored);
  }

  /** Brings blocks and table to arrays, for `decompressPages` or to be kept. */
  async read(): Promise<PackedPages> {
    const pieces = this.parts.flatMap((part) => [
      { buffer: part.packed, bytes: part.packedBytes },
      { buffer: part.table, bytes: this.#tableBytes(part) },
    ]);
    const bytes = await readBuffers(this.#device, pieces);
    let at = 0;
    const shares = this.parts.map((part): Share => {
      const packed = bytes.subarray(at, at + part.packedBytes);
      const table = new Uint32Array(bytes.buffer, at + part.packedBytes, this.#tableBytes(part) / 4);
      at += part.packedBytes + table.byteLength;
      return { packed, table };
    });
    return joinPages(shares, this.pageSize, this.byteLength);
  }

  /** `destroy`, for `using`. */
  [disposal](): void {
    this.destroy();
  }

  /** Frees the buffers of all parts. */
  destroy(): void {
    destroyBuffers(this.parts.flatMap(({ packed, table }) => [packed, table]));
  }

  #tableBytes({ byteLength }: ResidentPart): number {
    return 8 * Math.ceil(byteLength / this.pageSize);
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
): Promise<Outcome<ResidentPages>> {
  const { device, resident } = onDevice(codec);
  const made: DeviceBuffer[] = [];
  const make = (bytes: number): DeviceBuffer => {
    made.push(makeBuffer(device, bytes));
    return made[made.length - 1] as DeviceBuffer;
  };
  try {
    const { value, timing } = await resident.compressResident(buffer, byteLength, pageSize, level, make, job);
    const pages = new ResidentPages(device, value, pageSize);
    job.report(byteLength, value.reduce((sum, part) => sum + part.packedBytes, 0), timing.engine);
    return { value: pages, timing };
  } catch (error) {
    destroyBuffers(made);
    throw error;
  }
}

/** Where decompressed content goes. */
interface Target {
  /** The caller's buffer; without it one is made. */
  readonly buffer: DeviceBuffer | undefined;
  /** Usages of a buffer that is made, beside those that it has anyway. */
  readonly usage: number;
  readonly maxOutputSize: number;
}

/** Parts for kernels to decompress, and what they are. */
interface Parts {
  readonly parts: readonly ResidentPart[];
  readonly pageSize: number;
  readonly byteLength: number;
}

/** Decompresses pages, or the frames in an array, to a buffer. */
export async function decompressResident(
  codec: Codec,
  input: ResidentPages | PackedPagesInput | Uint8Array,
  target: Target,
  job: Job,
): Promise<Outcome<ResidentContent>> {
  const { device, resident } = onDevice(codec);
  if (input instanceof ResidentPages) return decompressParts(resident, device, input, target, job);
  if (!(input instanceof Uint8Array)) {
    const { packed, table } = input;
    const fill = (to: Uint8Array): void => to.set(packed);
    return decompressUploaded(resident, device, { ...input, table, packedBytes: packed.length, fill }, target, job);
  }
  const cpu = loadedCpu();
  const pages = cpu && framePages(input, cpu);
  if (pages && pages.byteLength <= target.maxOutputSize) {
    try {
      return await decompressUploaded(resident, device, pages, target, job);
    } catch (error) {
      // Blocks of other sizes than the first are no pages; whatever it is, the way of all frames tells.
      if (toPagepressError(error).code !== "CORRUPT_PAGE") throw error;
    }
  }
  const { value, timing } = await codec.decompress(input, { limit: target.maxOutputSize }, job);
  const buffer = targetFor(device, value.length, target);
  writeBuffer(device, buffer, value);
  return { value: { buffer, byteLength: value.length }, timing };
}

/** Pages in arrays, or what can be written as such. */
type Upload = Pick<PackedPagesInput, "pageSize" | "byteLength" | "table"> & {
  readonly packedBytes: number;
  fill(to: Uint8Array): void;
};

/** Uploads pages and decompresses them. */
async function decompressUploaded(
  resident: ResidentCodec,
  device: Device,
  { pageSize, byteLength, table, packedBytes, fill }: Upload,
  target: Target,
  job: Job,
): Promise<Outcome<ResidentContent>> {
  const most = mostBytes(device);
  if (packedBytes > most) fail("packed", `${packedBytes} bytes`, `give at most the ${most} that a kernel of this device sees`);
  if (pageSize === 0 || table.length !== 2 * Math.ceil(byteLength / pageSize)) {
    fail("table length", String(table.length), "give two words a page");
  }
  const packed = await filledBuffer(device, packedBytes, fill);
  const made = [packed];
  const parts: ResidentPart[] = [];
  const pagesPerPart = Math.floor(most / pageSize) || 1;
  try {
    for (let page = 0; page * pageSize < byteLength; page += pagesPerPart) {
      const words = table.subarray(2 * page, 2 * (page + pagesPerPart));
      const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
      const entries = await filledBuffer(device, bytes.length, (to) => to.set(bytes));
      made.push(entries);
      const partBytes = Math.min(byteLength - page * pageSize, pagesPerPart * pageSize);
      parts.push({ packed, packedBytes: wholeWords(packedBytes), table: entries, byteLength: partBytes });
    }
    return await decompressParts(resident, device, { parts, pageSize, byteLength }, target, job);
  } finally {
    // Work that was submitted keeps them until it has run.
    destroyBuffers(made);
  }
}

async function decompressParts(
  resident: ResidentCodec,
  device: Device,
  { parts, pageSize, byteLength }: Parts,
  target: Target,
  job: Job,
): Promise<Outcome<ResidentContent>> {
  const buffer = targetFor(device, byteLength, target);
  try {
    const { timing } = await resident.decompressResident([...parts], pageSize, buffer, job);
    job.report(byteLength, byteLength, timing.engine);
    return { value: { buffer, byteLength }, timing };
  } catch (error) {
    if (!target.buffer) destroyBuffers([buffer]);
    throw error;
  }
}

/** The caller's buffer, if it is large enough; else a new one. */
function targetFor(device: Device, byteLength: number, { buffer, usage, maxOutputSize }: Target): DeviceBuffer {
  if (byteLength > maxOutputSize) {
    throw new PagepressError("OUTPUT_LIMIT", `output exceeds the limit of ${maxOutputSize} bytes`);
  }
  if (!buffer) return makeBuffer(device, byteLength, usage);
  const size = sizeOf("buffer", buffer);
  if (size >= wholeWords(byteLength)) return buffer;
  return fail("buffer", `${size} bytes`, `give at least ${wholeWords(byteLength)}`);
}

/** The codec of `codec`'s device, and that. */
function onDevice(codec: Codec): { device: Device; resident: ResidentCodec } {
  const [device, resident] = [codec.device(), codec.resident()];
  if (device && resident) return { device, resident };
  throw new PagepressError("BACKEND_UNAVAILABLE", "this compressor runs on the CPU, which has no GPUBuffers");
}
