// fflate through its synchronous calls: the benchmark already runs in a worker, so the asynchronous ones would only add
// messages to a second worker. `mem` keeps its default, which depends on the input. gunzip reads the length of the
// content from the trailer and allocates once.
import { gunzipSync, gzipSync } from "fflate";
import { peerDefaults, type Engine } from "./engine";

export function openFflate(level: 1 | 6): Engine {
  return {
    ...peerDefaults,
    warmUpBytes: 4 << 20,
    detail: () => `JavaScript, gzip level ${level}, one thread`,
    compress: async (bytes) => gzipSync(bytes, { level }),
    decompress: async (packed) => gunzipSync(packed),
  };
}
