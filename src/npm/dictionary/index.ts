export { PagepressError, type PagepressErrorCode } from "../base/errors.js";
export type { Dictionary } from "../base/types.js";
export { createDictionary } from "./create.js";
export { trainDictionary } from "./train.js";
export type { DictionaryOptions, Samples, TrainOptions } from "./types.js";
