// Formats bytes as rows of hexadecimal digits and characters.
import { hex } from "../shell/format";

export const ROW_BYTES = 16;

/** Returns the lines of `bytes`, which begin at the position `at`. */
export function hexLines(bytes: Uint8Array, at: number): string[] {
  const digits = Math.max(8, (at + bytes.length).toString(16).length);
  const lines: string[] = [];
  for (let row = 0; row < bytes.length; row += ROW_BYTES) {
    const part = bytes.subarray(row, row + ROW_BYTES);
    const codes = Array.from(part, hex).join(" ").padEnd(3 * ROW_BYTES - 1);
    const text = Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${(at + row).toString(16).padStart(digits, "0")}  ${codes}  ${text}`);
  }
  return lines;
}

/** Returns the position that a text names: decimal, hexadecimal with `0x`, or a share such as `50 %`; null for anything else. */
export function positionOf(text: string, contentBytes: number): number | null {
  const plain = text.trim().replaceAll(/[\s_,\u202f]/g, "");
  const share = /^(\d+(?:\.\d+)?)%$/.exec(plain)?.[1];
  const at = share !== undefined ? (Number(share) / 100) * contentBytes : /^(0x[0-9a-f]+|\d+)$/i.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(at)) return null;
  return Math.max(0, Math.min(Math.floor(at), contentBytes - 1));
}
