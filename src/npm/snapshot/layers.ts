import { PagepressError } from "../base/errors.js";

/** The blocks that a version stores: in memory, or in a file that is read in parts. */
export interface Layer {
  readonly byteLength: number;
  /** The blocks, if they are in memory. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Returns a layer in memory. */
export function layerOf(bytes: Uint8Array<ArrayBuffer>): Layer {
  return { byteLength: bytes.length, bytes, read: async (start, end) => bytes.subarray(start, end) };
}

/** Returns the bytes of `parts` one after the other: three numbers for each part, the index of its layer, the offset of its
 * first byte and the offset after the last one. */
export async function readParts(layers: readonly Layer[], parts: Float64Array, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  for (let i = 0; i < parts.length; i += 3) length += (parts[i + 2] as number) - (parts[i + 1] as number);
  const all = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < parts.length; i += 3) {
    const [index, start, end] = parts.subarray(i, i + 3) as unknown as [number, number, number];
    const layer = layers[index] as Layer;
    const part = layer.bytes ? layer.bytes.subarray(start, end) : await layer.read(start, end, signal);
    if (part.length !== end - start) throw shortened(end - start, part.length);
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function shortened(expected: number, actual: number): PagepressError {
  return new PagepressError("READ", `the file of a version gives ${actual} bytes for ${expected}: it was changed since it was opened`);
}
