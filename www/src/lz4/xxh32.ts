// XXH32, the checksum of LZ4 frames.

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

const rotate = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));
const round = (sum: number, word: number): number => Math.imul(rotate((sum + Math.imul(word, P2)) | 0, 13), P1);

/** Returns the XXH32 of `bytes` with seed 0, as an unsigned number. */
export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hash = P5;
  if (bytes.length >= 16) {
    let [a, b, c, d] = [(P1 + P2) | 0, P2 | 0, 0, -P1 | 0];
    for (; at + 16 <= bytes.length; at += 16) {
      a = round(a, view.getInt32(at, true));
      b = round(b, view.getInt32(at + 4, true));
      c = round(c, view.getInt32(at + 8, true));
      d = round(d, view.getInt32(at + 12, true));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < bytes.length; at += 1) {
    hash = Math.imul(rotate((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
