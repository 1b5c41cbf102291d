// All cases of adapters, for Node and for pages. A place is `{ files, read(path), write(path, bytes) }`.
import { arrays } from "./arrays.js";
import { tables } from "./tables.js";

export const cases = { ...tables, ...arrays };
