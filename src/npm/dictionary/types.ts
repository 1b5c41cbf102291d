import type { BytesInput, CompressorOptions, ModuleSource } from "../base/types.js";

/** Options of `createDictionary`. */
export interface DictionaryOptions {
  /** Id that frames and batches of pages state, 0 to 4294967295; with 0 they do not state which dictionary they need, as frames of
   * `lz4 -D` do not. Default: the xxHash32 (seed 0) of all bytes, or 1 if that is 0. */
  id?: number;
  /** Source of the module `pagepress/dictionary.wasm`. Default: the file beside the package's JavaScript. */
  modules?: { dictionary?: ModuleSource };
}

/** Options of `trainDictionary`. */
export interface TrainOptions extends Pick<CompressorOptions, "workers" | "createWorker">, Pick<DictionaryOptions, "modules"> {
  /** Bytes of the dictionary, 1 to 65536. Default 65536. */
  size?: number;
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Samples to train on: each is what becomes one block, such as a page, a record or a message. */
export type Samples = Iterable<BytesInput>;
