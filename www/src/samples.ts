// Data to try; all but random bytes are the same on every visit.
import type { Sample } from "./messages";

type Random = () => number;

/** Numbers in [0, 1), by mulberry32. */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Index below `count`, small ones far more often, as words of a language are. */
const skewed = (random: Random, count: number) => Math.floor(count * random() ** 3);

/** `count` words that sound like a language. */
function vocabulary(random: Random, count: number): string[] {
  const onsets = ["b", "br", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "st", "t", "th", "v", "w"];
  const vowels = ["a", "e", "i", "o", "u", "ea", "ou"];
  const codas = ["", "", "n", "r", "s", "t", "nd", "ll"];
  const pick = (list: string[]) => list[Math.floor(random() * list.length)] ?? "";
  return Array.from({ length: count }, () => {
    const syllables = 1 + Math.floor(random() * 3);
    return Array.from({ length: syllables }, () => pick(onsets) + pick(vowels) + pick(codas)).join("");
  });
}

/** Fills `size` bytes with the pieces of text that `next` gives. */
function fillWithText(size: number, next: () => string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  const encoder = new TextEncoder();
  for (let at = 0; at < size; ) {
    const piece = encoder.encode(next()).subarray(0, size - at);
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function text(size: number): Uint8Array<ArrayBuffer> {
  const random = randomFrom(1);
  const words = vocabulary(random, 4000);
  return fillWithText(size, () => {
    const length = 6 + Math.floor(random() * 12);
    const sentence = Array.from({ length }, () => words[skewed(random, words.length)]).join(" ");
    return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${random() < 0.1 ? ".\n\n" : ". "}`;
  });
}

function json(size: number): Uint8Array<ArrayBuffer> {
  const random = randomFrom(2);
  const words = vocabulary(random, 500);
  const word = () => words[skewed(random, words.length)];
  let id = 1000;
  return fillWithText(size, () => {
    id += 1;
    const record = {
      id,
      name: `${word()} ${word()}`,
      active: random() < 0.7,
      score: Math.round(random() * 10000) / 100,
      created: new Date(1.7e12 + id * 60000).toISOString(),
      tags: [word(), word()],
    };
    return `${JSON.stringify(record)}\n`;
  });
}

/** Pages of a process: zeros, pointers, small numbers, text, and a few that do not shrink. */
function memory(size: number): Uint8Array<ArrayBuffer> {
  const random = randomFrom(3);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const prose = text(1 << 16);
  for (let page = 0; page < size; page += 4096) {
    const end = Math.min(page + 4096, size);
    const kind = random();
    if (kind < 0.25) continue;
    const heap = 0x10000 * Math.floor(random() * 65536);
    for (let at = page; at + 8 <= end; at += 8) {
      if (kind < 0.55) {
        view.setUint32(at, heap + 16 * Math.floor(random() * 512), true);
        view.setUint32(at + 4, 0x7f3a, true);
      } else if (kind < 0.75) {
        view.setUint32(at, Math.floor(random() * 200), true);
      } else if (kind < 0.95) {
        const from = (at + heap) % (prose.length - 8);
        bytes.set(prose.subarray(from, from + 8), at);
      } else {
        view.setUint32(at, random() * 4294967296, true);
        view.setUint32(at + 4, random() * 4294967296, true);
      }
    }
  }
  return bytes;
}

function noise(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  const most = 65536;
  for (let at = 0; at < size; at += most) crypto.getRandomValues(bytes.subarray(at, at + most));
  return bytes;
}

const makers = { text, json, memory, random: noise };

/** `size` bytes of a sample. */
export function makeSample(sample: Sample, size: number): Uint8Array<ArrayBuffer> {
  return makers[sample](size);
}
