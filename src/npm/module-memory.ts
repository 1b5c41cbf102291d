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

/** Memory of a module with bytes in it: what functions take that take bytes. */
export type Given = readonly [start: number, length: number];

/** An instance of a module. */
export interface Instance {
  readonly exports: object;
  /** Gets the exports that are to be called. */
  begin?(exports: object): void;
  /** Called when it trapped. */
  stop?(): void;
}

/** A module that takes and gives bytes. An instance that trapped is not used again: the next call has a new one. */
export class ModuleMemory<Exports extends MemoryExports, Kind extends Instance = Instance> {
  readonly #start: () => Kind;
  #instance: Kind;
  #exports: Exports | undefined;
  #answer = 0;

  /** `start` makes a further instance, `first` is there already. */
  constructor(first: Kind, start: () => Kind) {
    this.#start = start;
    this.#instance = first;
    this.#begin(first);
  }

  /** What the instance in use exports. Whatever throws in it stops it: the error is `ENGINE`, and its objects are lost. */
  get exports(): Exports {
    return this.#exports ?? this.#begin(this.#start());
  }

  /** The instance in use. */
  protected get instance(): Kind {
    void this.exports;
    return this.#instance;
  }

  /** Whether the instance that exports this is in use. */
  isCurrent(exports: object): boolean {
    return this.#exports === exports;
  }

  #begin(instance: Kind): Exports {
    const exports = guarded(instance.exports as Exports, () => {
      if (this.#exports === exports) this.#exports = undefined;
      instance.stop?.();
    });
    this.#answer = exports.answer();
    this.#instance = instance;
    this.#exports = exports;
    instance.begin?.(exports);
    return exports;
  }

  /** Copies bytes to memory of the module; the call that gets it frees it. Throws `OUT_OF_MEMORY`. */
  give(bytes: Uint8Array): Given {
    const { exports } = this;
    const { length } = bytes;
    const start = exports.take_memory(length) >>> 0;
    if (start === 0) throw outOfMemory(length);
    new Uint8Array(exports.memory.buffer, start, length).set(bytes);
    return [start, length];
  }

  /** Copies both to memory of the module, or none. */
  giveBoth(first: Uint8Array, second: Uint8Array): readonly [first: Given, second: Given] {
    const given = this.give(first);
    try {
      return [given, this.give(second)];
    } catch (error) {
      this.exports.free_answer(...given);
      throw error;
    }
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
    const bytes = this.#copied(new Uint8Array(buffer, start, length), capacity, status === 1 ? room : undefined);
    if (status === 1) return bytes;
    const [, code, message] = /^(\w+) (.*)$/s.exec(new TextDecoder().decode(bytes)) as unknown as [string, PagepressErrorCode, string];
    throw new PagepressError(code, message);
  }

  /** A copy of the answer, whose memory is freed. */
  #copied(answer: Uint8Array, capacity: number, room: Bytes | undefined): Bytes {
    const { byteOffset, length } = answer;
    try {
      if (!room || length > room.length) return answer.slice() as Bytes;
      const bytes = room.subarray(0, length);
      bytes.set(answer);
      return bytes;
    } catch (error) {
      throw outOfMemory(length, error);
    } finally {
      this.exports.free_answer(byteOffset, capacity);
    }
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

/** The exports of an instance, whose functions call `stop` when they throw: what is in its memory then is anyone's guess. */
function guarded<Exports extends object>(exports: Exports, stop: () => void): Exports {
  const guard = (call: (...args: unknown[]) => unknown) => (...args: unknown[]): unknown => {
    try {
      return call(...args);
    } catch (error) {
      stop();
      throw stopped(error);
    }
  };
  const all = Object.entries(exports).map(([name, value]) => [name, typeof value === "function" ? guard(value) : value]);
  return Object.fromEntries(all) as Exports;
}

function stopped(cause: unknown): PagepressError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new PagepressError("ENGINE", `the engine stopped: ${message}`, { cause });
}

/** The error of what was in an instance that stopped in another call. */
export function lost(): PagepressError {
  return new PagepressError("ENGINE", "the engine stopped in another call, and this was lost with it");
}

/** The error where there is no room for so many bytes. */
export function outOfMemory(nBytes: number, cause?: unknown): PagepressError {
  return new PagepressError("OUT_OF_MEMORY", `out of memory: ${nBytes} bytes`, { cause });
}

/** Objects of modules that nobody freed. */
const forgotten = new FinalizationRegistry<() => void>((free) => free());

/** An object in a module. */
export class Held<Module extends ModuleMemory<MemoryExports>> {
  protected readonly module: Module;
  /** Whether the instance that it is in is in use. */
  #isThere: () => boolean;
  #at: number;
  #isLost = false;
  #release: () => void;

  constructor(module: Module, at: number, free: (at: number) => void) {
    const { exports } = module;
    this.module = module;
    this.#isThere = () => module.isCurrent(exports);
    this.#at = at;
    this.#release = () => {
      if (module.isCurrent(exports)) free(at);
    };
    forgotten.register(this, this.#release, this);
  }

  /** Whether the instance that it was in stopped. */
  get isLost(): boolean {
    return (this.#isLost ||= this.#at !== 0 && !this.#isThere());
  }

  free(): void {
    const isThere = this.#at !== 0;
    const release = this.#release;
    this.#forget();
    if (isThere) release();
  }

  /** What `work` makes of the object, unless that or the instance that it was in is gone. */
  protected use<T>(work: (at: number) => T): T {
    if (this.isLost) {
      this.#forget();
      throw lost();
    }
    if (this.#at === 0) throw new PagepressError("ENGINE", "wasm engine: it was freed");
    return work(this.#at);
  }

  /** Keeps nothing of the instance, whose memory would stay. */
  #forget(): void {
    this.#at = 0;
    this.#isThere = () => false;
    this.#release = () => undefined;
    forgotten.unregister(this);
  }
}
