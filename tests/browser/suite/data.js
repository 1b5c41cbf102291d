// Generated pages: the same on every run.

/** A small generator of 32-bit numbers. */
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

/** Each kind fills an array of a given length. */
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
  /** 64-bit words as in a heap: small numbers, pointers to near places, zeros. */
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

/** Parts of every kind one after the other; the last page is a short one. */
export function mixed(pageSize, pagesOfKind) {
  const parts = Object.values(kinds).map((kind) => kind(pageSize * pagesOfKind));
  parts.push(kinds.text(777));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
