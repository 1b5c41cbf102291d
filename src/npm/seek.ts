import type { ContentRead, FrameMap, Range } from "./codec.js";
import { type Bytes, Held, type MemoryExports, ModuleMemory, type Status } from "./module-memory.js";

/** What the module exports that reads parts of files; `src/web/seek.rs` says what each function takes and gives. */
interface Exports extends MemoryExports {
  begin_map(length: number, isRemote: boolean): number;
  map_wants(map: number, end: number): Status;
  supply_map(map: number, start: number, length: number): Status;
  mapped_bytes(map: number): number;
  has_index(map: number): number;
  free_map(map: number): void;
  begin_read(map: number, start: number, end: number): number;
  read_wants(read: number, map: number): Status;
  supply_read(read: number, map: number, start: number, length: number): Status;
  free_read(read: number): void;
}

/** The module that reads parts of files. */
export class Seek extends ModuleMemory<Exports> {
  /** The map of a file, of which nothing is known yet. */
  map(byteLength: number, isRemote: boolean): FrameMap {
    return new ModuleMap(this, byteLength, isRemote);
  }

  /** The range that a call gave. */
  range(status: Status): Range | undefined {
    const ends = this.taken(status);
    return ends ? (new Float64Array(ends.buffer) as unknown as Range) : undefined;
  }
}

/** An instance of the module, which imports nothing. */
export async function start(module: WebAssembly.Module): Promise<Seek> {
  return new Seek(await WebAssembly.instantiate(module), () => new WebAssembly.Instance(module));
}

class ModuleMap extends Held<Seek> implements FrameMap {
  constructor(module: Seek, byteLength: number, isRemote: boolean) {
    super(module, module.exports.begin_map(byteLength, isRemote), module.exports.free_map);
  }

  wanted(end: number): Range | undefined {
    const { module } = this;
    return this.use((at) => module.range(module.exports.map_wants(at, end)));
  }

  supply(bytes: Uint8Array): void {
    const { module } = this;
    this.use((at) => module.taken(module.exports.supply_map(at, ...module.give(bytes))));
  }

  mappedBytes(): number {
    return this.use((at) => this.module.exports.mapped_bytes(at));
  }

  hasIndex(): boolean {
    return this.use((at) => this.module.exports.has_index(at)) !== 0;
  }

  read(start: number, end: number): ContentRead {
    return this.use((map) => new ModuleRead(this.module, this, map, start, end));
  }
}

class ModuleRead extends Held<Seek> implements ContentRead {
  /** Kept from the collector. */
  readonly map: ModuleMap;
  readonly #map: number;

  constructor(module: Seek, map: ModuleMap, mapAt: number, start: number, end: number) {
    super(module, module.exports.begin_read(mapAt, start, end), module.exports.free_read);
    this.map = map;
    this.#map = mapAt;
  }

  wanted(): Range | undefined {
    const { module } = this;
    return this.use((at) => module.range(module.exports.read_wants(at, this.#map)));
  }

  supply(_map: FrameMap, bytes: Uint8Array): Bytes {
    const { module } = this;
    return this.use((at) => module.bytes(module.exports.supply_read(at, this.#map, ...module.give(bytes))));
  }
}
