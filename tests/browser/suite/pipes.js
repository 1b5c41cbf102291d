// Helpers that create and read streams.
import { join, randomNumbers } from "./data.js";

/** Returns a stream of `bytes` in chunks of varying sizes, which counts the pulled bytes in `given`. */
export function source(bytes, given = { bytes: 0 }, most = 300_000) {
  const next = randomNumbers(bytes.length);
  return new ReadableStream(
    {
      pull(controller) {
        const piece = bytes.subarray(given.bytes, given.bytes + 1 + (next() % most));
        given.bytes += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Reads a stream to its end. Unlike a Response it rejects with the error of the stream. */
export async function collect(stream) {
  const parts = [];
  const reader = stream.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) parts.push(value);
  return join(parts);
}
