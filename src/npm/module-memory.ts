import { PagepressError, type PagepressErrorCode } from "./errors.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** How bytes get in and out of a module; `src/web/memory.rs` says what each function does. */
export interface MemoryExports {
  memory: WebAssembly.Memory;
  take_memory(length: number): number;
  answer(): number;
  free_answer(start: number, capacity: number): void;
}

/** Nothing, bytes in the answer, or an error in it. */
export type Status = 0 | 1 | 2;

/** A module that takes and gives bytes. */
export class ModuleMemory<Exports extends MemoryExports> {
  readonly exports: Exports;
  #answer: number;

  constructor(exports: Exports) {
    this.exports = exports;
    this.#answer = exports.answer();
  }

  /** Copies bytes to memory of the module; the call that gets it frees it. */
  give(bytes: Uint8Array): number {
    const start = this.exports.take_memory(bytes.length) >>> 0;
    new Uint8Array(this.exports.memory.buffer, start, bytes.length).set(bytes);
    return start;
  }

  /** The bytes that a call lent, where they are: good until the module is called again. Null if none; throws the error
   * that it gave. */
  lent(status: Status): Uint8Array | null {
    if (status === 2) this.taken(status);
    if (status === 0) return null;
    const { buffer } = this.exports.memory;
    const [start, length] = new Uint32Array(buffer, this.#answer, 2) as unknown as [number, number];
    return new Uint8Array(buffer, start, length);
  }

  /** The bytes that a call gave or lent, null if none; throws the error that it gave. They are put into `room` if they
   * fit. */
  taken(status: Status, room?: Bytes): Bytes | null {
    if (status === 0) return null;
    const { buffer } = this.exports.memory;
    const [start, length, capacity] = new Uint32Array(buffer, this.#answer, 3) as unknown as [number, number, number];
    const isRoom = room && status === 1 && length <= room.length;
    const bytes = isRoom ? room.subarray(0, length) : new Uint8Array(buffer.slice(start, start + length) as ArrayBuffer);
    if (isRoom) bytes.set(new Uint8Array(buffer, start, length));
    this.exports.free_answer(start, capacity);
    if (status === 1) return bytes;
    const [, code, message] = /^(\w+) (.*)$/s.exec(new TextDecoder().decode(bytes)) as unknown as [string, PagepressErrorCode, string];
    throw new PagepressError(code, message);
  }

  /** The bytes that a call gave. */
  bytes(status: Status, room?: Bytes): Bytes {
    return this.taken(status, room) ?? new Uint8Array();
  }

  /** The object that a call made; throws the error that it gave instead. */
  made(at: number): number {
    if (at === 0) this.taken(2);
    return at;
  }
}

/** Objects of modules that nobody freed. */
const forgotten = new FinalizationRegistry<() => void>((free) => free());

/** An object in a module. */
export class Held<Module> {
  protected readonly module: Module;
  #at: number;
  #release: () => void;

  constructor(module: Module, at: number, free: (at: number) => void) {
    this.module = module;
    this.#at = at;
    this.#release = () => free(at);
    forgotten.register(this, this.#release, this);
  }

  free(): void {
    const isThere = this.#at !== 0;
    this.#forget();
    if (isThere) this.#release();
  }

  /** What `work` makes of the object. A module that traps in it leaves it as it is then, neither usable nor to be freed. */
  protected use<T>(work: (at: number) => T): T {
    const at = this.#at;
    if (at === 0) throw new PagepressError("ENGINE", "wasm engine: a call was cancelled or failed in this, or it was freed");
    try {
      return work(at);
    } catch (error) {
      if (!(error instanceof PagepressError)) this.#forget();
      throw error;
    }
  }

  #forget(): void {
    this.#at = 0;
    forgotten.unregister(this);
  }
}
