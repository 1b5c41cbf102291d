// The browser's gzip, CompressionStream, which has no levels.
import { peerDefaults, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

/** Transforms `bytes`, written as one chunk to avoid the cost per chunk. `length` is the expected output size. */
async function through(bytes: Bytes, by: CompressionStream | DecompressionStream, length: number): Promise<Bytes> {
  const writer = by.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  // Errors of the input reject the reader as well.
  written.catch(() => undefined);
  let out = new Uint8Array(length);
  let at = 0;
  const reader = by.readable.getReader() as ReadableStreamDefaultReader<Bytes>;
  for (let { done, value } = await reader.read(); !done && value; { done, value } = await reader.read()) {
    if (at + value.length > out.length) {
      const larger = new Uint8Array(2 * (at + value.length));
      larger.set(out.subarray(0, at));
      out = larger;
    }
    out.set(value, at);
    at += value.length;
  }
  await written;
  return out.subarray(0, at);
}

export function openGzip(): Engine {
  return {
    ...peerDefaults,
    warmUpBytes: 4 << 20,
    detail: () => "Built into the browser, gzip",
    compress: (bytes) => through(bytes, new CompressionStream("gzip"), bytes.length >> 1),
    decompress: (packed, length) => through(packed, new DecompressionStream("gzip"), length),
  };
}
