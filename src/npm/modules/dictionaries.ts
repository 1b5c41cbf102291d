import { fail } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import type { Dictionary } from "../base/types.js";
import type { DictionaryModule } from "./dictionary-module.js";

/** The modules of the dictionaries that `createDictionary` has returned. */
const modules = new WeakMap<object, DictionaryModule>();

/** Sets the module that works with `dictionary`. */
export function setModule(dictionary: Dictionary, module: DictionaryModule): void {
  modules.set(dictionary, module);
}

/** Returns the module that works with the dictionary of `options`; undefined if they have none. Throws `INVALID_ARGUMENT` for another
 * value. */
export function moduleWith({ dictionary }: { dictionary?: Dictionary | undefined }): DictionaryModule | undefined {
  if (dictionary === undefined) return undefined;
  return modules.get(dictionary) ?? fail("dictionary", typeof dictionary, "give what createDictionary() of pagepress/dictionary returned");
}

/** Throws `DICTIONARY_NEEDED` or `WRONG_DICTIONARY` unless pages that state this id, or none if it is 0, may be those of `module`. */
export function checkDictionary(stated: number, module: DictionaryModule | undefined): void {
  if (stated === 0 || stated === module?.dictionaryId) return;
  const named = (id: number): string => `0x${id.toString(16).padStart(8, "0")}`;
  const [needed, remedy] = [`dictionary ${named(stated)} is needed`, "give the dictionary that the data was compressed with"];
  if (!module) throw new PagepressError("DICTIONARY_NEEDED", `${needed}; ${remedy}`);
  throw new PagepressError("WRONG_DICTIONARY", `${needed}, the given one is ${named(module.dictionaryId)}; ${remedy}`);
}
