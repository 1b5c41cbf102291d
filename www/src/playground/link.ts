// A program in a link: compressed with LZ4, as base64 in the fragment, which no browser sends to a server.
import { compress, decompress } from "pagepress";
import { fragmentParameters } from "../shell/tabs";
import { EXAMPLES, type Language } from "./examples";

/** Longest program of a link, in bytes. */
const MOST_BYTES = 64 << 10;

export async function linkTo(language: Language, program: string): Promise<string> {
  const packed = await compress(new TextEncoder().encode(program), { level: "high", contentChecksum: false });
  const base64 = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  const parameters = new URLSearchParams({ [language]: base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") });
  return `${location.origin}${location.pathname}#learn?${parameters.toString()}`;
}

/** Returns the program of the page's own link; null if it has none. */
export async function programOfLink(): Promise<{ language: Language; program: string } | null> {
  const parameters = fragmentParameters();
  for (const language of Object.keys(EXAMPLES) as Language[]) {
    const base64 = parameters.get(language);
    if (base64 === null) continue;
    const packed = Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const bytes = await decompress(packed, { maxOutputSize: MOST_BYTES });
    return { language, program: new TextDecoder().decode(bytes) };
  }
  return null;
}
