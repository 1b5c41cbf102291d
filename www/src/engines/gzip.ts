// The browser's own gzip, CompressionStream. It has no levels.
import { silent, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

/** All that comes out when `bytes` go in at once: chunks of a stream would cost a message each. */
async function through(bytes: Bytes, by: CompressionStream | DecompressionStream, length: number): Promise<Bytes> {
  const writer = by.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  // What is wrong with the input is told by the reader, too.
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
    ...silent,
    warmUpBytes: 4 << 20,
    detail: () => "CompressionStream, gzip, one thread",
    compress: (bytes) => through(bytes, new CompressionStream("gzip"), bytes.length >> 1),
    decompress: (packed, length) => through(packed, new DecompressionStream("gzip"), length),
  };
}
