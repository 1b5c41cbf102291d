import type { Names } from "../api/options.js";
import { checkedBytes, checkOptions, checkSize } from "../base/arguments.js";
import { toPagepressError } from "../base/errors.js";
import type { BytesInput, Dictionary } from "../base/types.js";
import { unshared } from "../base/views.js";
import { setModule } from "../modules/dictionaries.js";
import { moduleOf } from "./module.js";
import type { DictionaryOptions } from "./types.js";

/** Most bytes of a dictionary: the reach of a match, and one more. */
const MOST_BYTES = 65_536;

const names: Names<DictionaryOptions> = { id: true, modules: true };

/** Creates the dictionary of the last 65,536 of `bytes`, or of all if there are fewer. The first call loads the module
 * `pagepress/dictionary.wasm`. The memory of a dictionary is freed with the object. */
export async function createDictionary(bytes: BytesInput, options: DictionaryOptions = {}): Promise<Dictionary> {
  try {
    checkOptions(options, names);
    const { id, modules } = options;
    if (id !== undefined) checkSize("id", id, 0xffff_ffff);
    const all = unshared(checkedBytes("bytes", bytes));
    const source = modules?.dictionary;
    // The default id is that of all bytes, of which only the last are kept.
    const isCut = id === undefined && all.length > MOST_BYTES;
    const known = isCut ? (await moduleOf(all, id, source)).dictionaryId : id;
    const module = await moduleOf(all.slice(-MOST_BYTES), known, source);
    const dictionary = Object.freeze({ id: module.dictionaryId, byteLength: module.sent.bytes.length });
    setModule(dictionary, module);
    return dictionary;
  } catch (error) {
    throw toPagepressError(error);
  }
}
