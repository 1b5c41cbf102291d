// The open compressors of the worker: one per choice of engine, opened on first use.
import { createCompressor } from "pagepress";
import type { Compressor } from "pagepress";
import type { EngineChoice } from "./calls";

const open = new Map<string, Promise<Compressor>>();

/** Returns the compressor for a choice. After a failure the next call opens it again. */
export function compressorFor({ backend, allowSoftware }: EngineChoice): Promise<Compressor> {
  const key = `${backend} ${allowSoftware}`;
  const earlier = open.get(key);
  if (earlier) return earlier;
  const opening = createCompressor({ backend, allowSoftware }).catch((error: unknown) => {
    open.delete(key);
    throw error;
  });
  open.set(key, opening);
  return opening;
}
