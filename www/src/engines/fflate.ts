// fflate through its synchronous calls: the race already runs in a worker, so the asynchronous ones would only add
// messages to a second worker. Level 1 is its fastest. gunzip reads the length of the content from the trailer and
// allocates once.
import { gunzipSync, gzipSync } from "fflate";
import { peerDefaults, type Engine } from "./engine";

export function openFflate(): Engine {
  return {
    ...peerDefaults,
    warmUpBytes: 4 << 20,
    detail: () => "JavaScript, gzip, level 1",
    compress: (bytes) => gzipSync(bytes, { level: 1 }),
    decompress: (packed) => gunzipSync(packed),
  };
}
