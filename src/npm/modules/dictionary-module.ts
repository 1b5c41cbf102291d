import { type Bytes } from "../base/bytes.js";
import type { CompiledModule, FrameOptions } from "../base/types.js";
import type * as Cpu from "../wasm/cpu.js";
import type * as Wasm from "../wasm/dictionary.js";
import { type Calls, CpuModule, frameArguments } from "./cpu-module.js";
import type { Glue } from "./instance.js";

/** A dictionary and the module that works with it, in the form that is sent to workers. */
export interface SentDictionary {
  /** Number of the dictionary in its realm. */
  readonly key: number;
  readonly module: CompiledModule;
  readonly bytes: Uint8Array;
  readonly id: number | undefined;
}

/** The dictionary module, with a dictionary for all its calls. All dictionaries share one instance of the module. */
export class DictionaryModule extends CpuModule {
  override readonly sent: SentDictionary;
  readonly #shared: CpuModule;
  #made: { readonly dictionary: Wasm.Dictionary; readonly generation: number } | undefined;

  /** `sent.module` is the module of which `shared` is the instance. */
  constructor(shared: CpuModule, sent: SentDictionary) {
    super(shared.glue);
    this.#shared = shared;
    this.sent = sent;
  }

  override get generation(): number {
    return this.#shared.generation;
  }

  override get dictionaryId(): number {
    return this.#dictionary.id;
  }

  override run<T>(work: (glue: typeof Cpu & Glue) => T): T {
    return this.#shared.run(work);
  }

  override make<T extends object>(create: (glue: typeof Cpu & Glue) => T): T {
    return this.#shared.make(create);
  }

  override encoder(options: Required<FrameOptions>, contentSize?: number): Cpu.FrameEncoder {
    return this.make(() => this.#dictionary.frameEncoder(...frameArguments(options), contentSize));
  }

  override decoder(maxOutputSize: number, groupBytes: number): Cpu.FrameDecoder {
    return this.make(() => this.#dictionary.frameDecoder(maxOutputSize, groupBytes));
  }

  override pageDecoder(packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number): Cpu.PageDecoder {
    return this.make(() => this.#dictionary.pageDecoder(packed, table, pageSize, byteLength));
  }

  /** Begins to map a file for `openFrame`. */
  frameMap(byteLength: number, isRemote: boolean): Wasm.FrameMap {
    return this.make(() => this.#dictionary.frameMap(byteLength, isRemote));
  }

  /** Returns the bytes of a dictionary trained on `samples`, which follow each other. */
  train(samples: Uint8Array, lengths: Uint32Array, size: number): Bytes {
    return this.run((glue) => {
      glue.makeRoom(samples.length);
      return (glue as unknown as typeof Wasm).trainDictionary(samples, lengths, size);
    });
  }

  protected override calls(): Calls {
    return this.#dictionary;
  }

  /** The dictionary in the current instance of the module. */
  get #dictionary(): Wasm.Dictionary {
    const { bytes, id } = this.sent;
    if (this.#made?.generation !== this.generation) {
      const dictionary = this.make((glue) => {
        glue.makeRoom(bytes.length);
        return new (glue as unknown as typeof Wasm).Dictionary(bytes, id);
      });
      this.#made = { dictionary, generation: this.generation };
    }
    return this.#made.dictionary;
  }
}
