import { bytesOf, checkSize, fail } from "../base/arguments.js";
import { viewOf } from "../base/views.js";
import type { ByteRangeOptions, MemoryInput, MemoryPart, RegionInfo } from "./types.js";

/** Name of a memory that is given without one. */
const ONLY = "memory";
/** Bytes of a page of WebAssembly, the unit in which memories grow. */
const WASM_PAGE_BYTES = 65536;

/** A memory with its name. */
export interface NamedMemory {
  readonly name: string;
  readonly memory: MemoryPart;
}

/** Returns the memories in `input` with their names. Throws `INVALID_ARGUMENT` for other values. */
export function namedMemories(input: MemoryInput): NamedMemory[] {
  if (isMemory(input) || viewOf(input)) return [{ name: ONLY, memory: input as MemoryPart }];
  if (typeof input !== "object" || input === null) bytesOf("memory", input);
  const named = Object.entries(input as Record<string, MemoryPart>).map(([name, memory]) => ({ name, memory }));
  if (named.length === 0) fail("memory", "an object without entries", "give a memory, or an object of named memories");
  for (const { name, memory } of named) if (!isMemory(memory)) bytesOf(`memory ${name}`, memory);
  return named;
}

/** Returns the bytes of a memory. A view is invalid once the memory has grown. */
export function bytesOfMemory({ name, memory }: NamedMemory): Uint8Array {
  return bytesOf(`memory ${name}`, isMemory(memory) ? memory.buffer : memory);
}

/** Returns the bytes of a memory for `byteLength` bytes of a region. A memory of WebAssembly grows; throws `INVALID_ARGUMENT`
 * if it cannot. */
export function bytesForRegion(named: NamedMemory, byteLength: number): Uint8Array {
  const { name, memory } = named;
  const missing = byteLength - bytesOfMemory(named).length;
  if (missing > 0 && isMemory(memory)) {
    try {
      memory.grow(Math.ceil(missing / WASM_PAGE_BYTES));
    } catch (cause) {
      fail(`memory ${name}`, `a memory that cannot grow by ${missing} bytes`, `give one with a maximum of ${byteLength} bytes`, { cause });
    }
  }
  const bytes = bytesOfMemory(named);
  if (bytes.length < byteLength) fail(`memory ${name}`, `${bytes.length} bytes`, `give at least the ${byteLength} of the region`);
  return bytes;
}

/** Bytes of the region of number `index`. */
export interface RegionRange {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** Returns the range of bytes that options name. Throws `INVALID_ARGUMENT` if no region has it. */
export function checkedRange(regions: readonly RegionInfo[], { region, start = 0, end }: ByteRangeOptions): RegionRange {
  const names = regions.map(({ name }) => name);
  if (region === undefined && regions.length > 1) fail("region", "none", `give one of ${names.join(", ")}`);
  const index = region === undefined ? 0 : names.indexOf(region);
  const found = regions[index];
  if (!found) return fail("region", String(region), `give one of ${names.join(", ")}`);
  const last = end ?? found.byteLength;
  checkSize("end", last, found.byteLength);
  checkSize("start", start, last);
  return { index, start, end: last };
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  // Also of other realms.
  return Object.prototype.toString.call(value) === "[object WebAssembly.Memory]";
}
