// Generates deterministic pages.

/** Returns a generator of pseudo-random 32-bit numbers. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (z ^ (z >>> 14)) >>> 0;
  };
}

const words = "the of and to in page memory block match literal offset kernel a is that frame it was for on".split(" ");

/** The kinds, as functions that return an array of a given length. */
export const kinds = {
  zeros: (n) => new Uint8Array(n),
  painted: (n) => Uint8Array.from({ length: n }, (_, i) => i % 251),
  random: (n) => {
    const next = randomNumbers(1);
    return Uint8Array.from({ length: n }, () => next() & 255);
  },
  text: (n) => {
    const next = randomNumbers(2);
    let text = "";
    while (text.length < n) text += `${words[next() % words.length]} `;
    return new TextEncoder().encode(text.slice(0, n));
  },
  /** 64-bit words as in a heap: small numbers, pointers to nearby addresses, zeros. */
  memory: (n) => {
    const next = randomNumbers(3);
    const view = new DataView(new ArrayBuffer(Math.ceil(n / 8) * 8));
    for (let at = 0; at < view.byteLength; at += 8) {
      const kind = next() % 4;
      if (kind === 0) view.setUint32(at, next() % 1000, true);
      if (kind === 1) view.setBigUint64(at, 0x7f12_3400_0000n + BigInt((next() % 4096) * 16), true);
    }
    return new Uint8Array(view.buffer, 0, n);
  },
  /** Runs of one byte, of every length up to 600. */
  runs: (n) => {
    const next = randomNumbers(4);
    const bytes = new Uint8Array(n);
    for (let at = 0; at < n; ) {
      const end = at + 1 + (next() % 600);
      bytes.fill(next() & 255, at, end);
      at = end;
    }
    return bytes;
  },
};

/** The bytes of a word without a repeated half or pair. */
const WORD = [0x9d, 0x21, 0x53, 0xf7, 0x0b, 0x6c, 0xe8, 0x3a];

/** Fills an array with a word of `period` bytes. The formats encode periods of 1, 2, 4 and 8 as a fill, but not 3. */
const fill = (period) => (n) => Uint8Array.from({ length: n }, (_, i) => WORD[i % period]);

/** The kinds of pages: those above, words of every period, and combinations. */
export const pageKinds = {
  ...kinds,
  "fill of 1": fill(1),
  "fill of 2": fill(2),
  "fill of 3": fill(3),
  "fill of 4": fill(4),
  "fill of 8": fill(8),
  /** Differs from a fill in the last byte. */
  "all but a fill": (n) => fill(8)(n).map((byte, i) => (i === n - 1 ? byte ^ 1 : byte)),
  "half a fill": (n) => join([fill(8)(n >> 1), kinds.text(n - (n >> 1))]),
  "text and noise": (n) => join([kinds.text(n >> 2), kinds.random(n >> 1), kinds.zeros(n - (n >> 1) - (n >> 2))]),
};

/** Returns a page of a kind; the seed selects the position in the data of the kind. */
export function pageOf(kind, length, seed) {
  return pageKinds[kind](length + 9 * seed).subarray(9 * seed);
}

/** Returns parts of every kind in turn, a page of each fill, and a short page of text at the end. */
export function mixed(pageSize, pagesOfKind) {
  const parts = Object.values(kinds).map((kind) => kind(pageSize * pagesOfKind));
  for (const period of [1, 2, 3, 4, 8]) parts.push(fill(period)(pageSize));
  parts.push(kinds.text(777));
  return join(parts);
}

/** Concatenates arrays. */
export function join(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
