// The open compressors of the page's worker: one for each choice of engine, opened when it is first needed.
import { createCompressor } from "pagepress";
import type { Compressor } from "pagepress";
import type { EngineChoice } from "./calls";

const open = new Map<string, Promise<Compressor>>();

/** The compressor for a choice. One that does not open is tried again the next time. */
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
