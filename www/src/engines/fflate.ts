// fflate. Its documentation has long work done off the page's thread; here all of it is, so the calls are the
// synchronous ones, which spare the way to another worker. `mem` is left to fflate, which fits it to the input, and gzip
// is the format by default. gunzip reads the length of the content from the end, and allocates it at once.
import { gunzipSync, gzipSync } from "fflate";
import { silent, type Engine } from "./engine";

export function openFflate(level: 1 | 6): Engine {
  return {
    ...silent,
    warmUpBytes: 4 << 20,
    detail: () => `JavaScript, gzip level ${level}, one thread`,
    compress: async (bytes) => gzipSync(bytes, { level }),
    decompress: async (packed) => gunzipSync(packed),
  };
}
