import type { StopSignal } from "../base/abort.js";
import { type Bytes, joined } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";

/** The blocks that a version stores: in memory, or in a file that is read in parts. */
export interface Layer {
  /** Bytes of a file. */
  readonly byteLength?: number;
  /** Returns bytes that are in memory. */
  at?(start: number, end: number): Uint8Array;
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Returns a layer of arrays in memory, one after the other. They are not joined, since that takes as long as to write them. */
export function layerOf(arrays: readonly Uint8Array[]): Layer {
  const starts = arrays.map(() => 0);
  for (let i = 1; i < arrays.length; i += 1) starts[i] = (starts[i - 1] as number) + (arrays[i - 1] as Uint8Array).length;
  const at = (start: number, end: number): Uint8Array => {
    let i = arrays.length - 1;
    while (i > 0 && (starts[i] as number) > start) i -= 1;
    const parts = [];
    for (let from = start; i < arrays.length; i += 1) {
      const [array, first] = [arrays[i] as Uint8Array, starts[i] as number];
      const part = array.subarray(from - first, end - first);
      if (part.length === end - start) return part;
      parts.push(part);
      from = first + array.length;
      if (from >= end) break;
    }
    return joined(parts as Bytes[]);
  };
  return { at, read: async (start, end) => at(start, end) };
}

/** Maximum bytes of files that are read at once. */
const MAX_READ_BYTES = 2 ** 28;

/** Returns `layers` with those of files in memory, unless they are large: one long read takes less time than many short ones. */
export async function readLayers(layers: readonly Layer[], signal?: StopSignal): Promise<readonly Layer[]> {
  const total = layers.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
  if (total > MAX_READ_BYTES) return layers;
  const inMemory = async (layer: Layer): Promise<Layer> => {
    const { byteLength } = layer;
    return byteLength === undefined ? layer : layerOf([await readFile(layer, 0, byteLength, signal)]);
  };
  return Promise.all(layers.map(inMemory));
}

/** Returns the bytes of `parts` one after the other: three numbers for each part, the index of its layer, the offset of its
 * first byte and the offset after the last one. A single part is not copied. */
export async function readParts(layers: readonly Layer[], parts: Float64Array, signal?: StopSignal): Promise<Uint8Array> {
  if (parts.length === 3) return readPart(layers, parts, signal);
  let length = 0;
  for (let i = 0; i < parts.length; i += 3) length += (parts[i + 2] as number) - (parts[i + 1] as number);
  const all = new Uint8Array(length);
  for (let [i, at] = [0, 0]; i < parts.length; i += 3) {
    const read = readPart(layers, parts.subarray(i, i + 3), signal);
    const part = read instanceof Promise ? await read : read;
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns the bytes of a part, without a promise if they are in memory. */
function readPart(layers: readonly Layer[], part: Float64Array, signal?: StopSignal): Uint8Array | Promise<Uint8Array> {
  const [index, start, end] = part as unknown as [number, number, number];
  const layer = layers[index] as Layer;
  return layer.at?.(start, end) ?? readFile(layer, start, end, signal);
}

async function readFile(layer: Layer, start: number, end: number, signal?: StopSignal): Promise<Uint8Array> {
  // The signals of callers are `AbortSignal`s.
  const part = await layer.read(start, end, signal as AbortSignal | undefined);
  if (part.length === end - start) return part;
  const message = `the file of a version gives ${part.length} bytes for ${end - start}: it was changed since it was opened`;
  throw new PagepressError("READ", message);
}
