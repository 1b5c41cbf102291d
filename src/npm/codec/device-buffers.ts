import { fail } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import type { Device, DeviceBuffer } from "../base/types.js";

/** What is used of WebGPU here, whether or not its types are installed. */
interface RawBuffer {
  readonly size: number;
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

interface RawDevice {
  readonly lost: Promise<unknown>;
  readonly limits: { readonly maxStorageBufferBindingSize: number };
  readonly queue: { submit(commands: unknown[]): void; writeBuffer(to: RawBuffer, at: number, from: BufferSource): void };
  createBuffer(descriptor: { size: number; usage: number; mappedAtCreation?: boolean }): RawBuffer;
  createCommandEncoder(): {
    copyBufferToBuffer(from: RawBuffer, fromAt: number, to: RawBuffer, toAt: number, bytes: number): void;
    finish(): unknown;
  };
}

/** Bits of `GPUBufferUsage` and `GPUMapMode`. */
const MAP_READ = 0x01;
const COPY_SRC = 0x04;
const COPY_DST = 0x08;
const STORAGE = 0x80;
const READ = 0x01;

const raw = (device: Device): RawDevice => device as unknown as RawDevice;
const rawBuffer = (buffer: DeviceBuffer): RawBuffer => buffer as unknown as RawBuffer;

/** `bytes` rounded up to whole words. */
export function wholeWords(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** Length of a `GPUBuffer` in bytes; throws `INVALID_ARGUMENT` for anything else. */
export function sizeOf(name: string, buffer: DeviceBuffer): number {
  const { size } = rawBuffer(buffer ?? {});
  if (typeof size === "number") return size;
  return fail(name, typeof buffer, "give a GPUBuffer");
}

/** Most bytes of a buffer that kernels see. */
export function mostBytes(device: Device): number {
  return raw(device).limits.maxStorageBufferBindingSize;
}

/** A buffer for kernels, and for what else `usage` says. */
export function makeBuffer(device: Device, bytes: number, usage = 0): DeviceBuffer {
  const size = Math.max(4, wholeWords(bytes));
  return raw(device).createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST | usage }) as unknown as DeviceBuffer;
}

/** A buffer for kernels that `fill` writes; it is all zeros before. Rejects with `OUT_OF_MEMORY`, or `DEVICE_LOST`, for which
 * browsers have the same error. */
export async function filledBuffer(device: Device, bytes: number, fill: (to: Uint8Array) => void): Promise<DeviceBuffer> {
  const size = Math.max(4, wholeWords(bytes));
  const usage = STORAGE | COPY_DST;
  let buffer: RawBuffer;
  try {
    buffer = raw(device).createBuffer({ size, usage, mappedAtCreation: true });
  } catch (error) {
    const code = (await isLost(device)) ? "DEVICE_LOST" : "OUT_OF_MEMORY";
    throw new PagepressError(code, `no buffer of ${size} bytes: ${(error as Error).message}`, { cause: error });
  }
  fill(new Uint8Array(buffer.getMappedRange()));
  buffer.unmap();
  return buffer as unknown as DeviceBuffer;
}

/** Writes `bytes` to the start of `buffer`. */
export function writeBuffer(device: Device, buffer: DeviceBuffer, bytes: Uint8Array<ArrayBuffer>): void {
  const { queue } = raw(device);
  const whole = bytes.length - (bytes.length % 4);
  if (whole > 0) queue.writeBuffer(rawBuffer(buffer), 0, bytes.subarray(0, whole));
  if (whole === bytes.length) return;
  const last = new Uint8Array(4);
  last.set(bytes.subarray(whole));
  queue.writeBuffer(rawBuffer(buffer), whole, last);
}

/** The first bytes of buffers, one after the other. */
export async function readBuffers(
  device: Device,
  parts: readonly { buffer: DeviceBuffer; bytes: number }[],
): Promise<Uint8Array<ArrayBuffer>> {
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total === 0) return new Uint8Array();
  const staging = raw(device).createBuffer({ size: total, usage: MAP_READ | COPY_DST });
  const encoder = raw(device).createCommandEncoder();
  let at = 0;
  for (const { buffer, bytes } of parts) {
    encoder.copyBufferToBuffer(rawBuffer(buffer), 0, staging, at, bytes);
    at += bytes;
  }
  raw(device).queue.submit([encoder.finish()]);
  try {
    await staging.mapAsync(READ);
    return new Uint8Array(staging.getMappedRange().slice(0));
  } catch (error) {
    const code = (await isLost(device)) ? "DEVICE_LOST" : "ENGINE";
    throw new PagepressError(code, `the buffers cannot be read: ${(error as Error).message}`, { cause: error });
  } finally {
    staging.destroy();
  }
}

/** Whether the device is lost, of which browsers tell a little later than of the work that fails. */
function isLost(device: Device): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50));
  return Promise.race([raw(device).lost.then(() => true), later]);
}

/** Frees buffers. */
export function destroyBuffers(buffers: Iterable<DeviceBuffer>): void {
  for (const buffer of buffers) rawBuffer(buffer).destroy();
}
