// Generates sample data. All kinds but random bytes are the same on every visit.
import type { Control } from "../rpc/serve";
import type { Sample } from "./calls";

type Random = () => number;

/** Returns a generator of numbers in [0, 1) (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns an index below `count` with a skewed distribution, as of the words of a language. */
const skewed = (random: Random, count: number) => Math.floor(count * random() ** 3);

/** Returns `count` pronounceable words. */
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

/** Returns the next `length` bytes of a sample. */
type Maker = (length: number) => Uint8Array<ArrayBuffer>;

/** Returns a maker that concatenates the texts that `next` returns. */
function textMaker(next: () => string): Maker {
  const encoder = new TextEncoder();
  let rest = new Uint8Array();
  return (length) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      if (rest.length === 0) rest = encoder.encode(next());
      const piece = rest.subarray(0, length - at);
      bytes.set(piece, at);
      at += piece.length;
      rest = rest.subarray(piece.length);
    }
    return bytes;
  };
}

function text(): Maker {
  const random = randomFrom(1);
  const words = vocabulary(random, 4000);
  return textMaker(() => {
    const length = 6 + Math.floor(random() * 12);
    const sentence = Array.from({ length }, () => words[skewed(random, words.length)]).join(" ");
    return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${random() < 0.1 ? ".\n\n" : ". "}`;
  });
}

function json(): Maker {
  const random = randomFrom(2);
  const words = vocabulary(random, 500);
  const word = (): string => words[skewed(random, words.length)] ?? "";
  let id = 1000;
  return textMaker(() => {
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

/** Source code: few words, repeated forms, indentation. */
function source(): Maker {
  const random = randomFrom(4);
  const words = vocabulary(random, 900);
  const name = (): string => words[skewed(random, words.length)] ?? "x";
  const camel = (): string => name() + name().replace(/^./, (letter) => letter.toUpperCase());
  const lines = [
    () => `  const ${name()} = ${camel()}(${name()}, ${name()});`,
    () => `  if (${name()} === undefined) return ${Math.floor(random() * 100)};`,
    () => `  for (let i = 0; i < ${name()}.length; i += 1) {\n    ${name()}[i] = ${name()}[i] + ${name()};\n  }`,
    () => `  // ${Array.from({ length: 4 + Math.floor(random() * 6) }, name).join(" ")}`,
    () => `  ${name()}.${camel()}("${name()} ${name()}");`,
  ];
  return textMaker(() => {
    const body = Array.from({ length: 2 + Math.floor(random() * 8) }, () => lines[Math.floor(random() * lines.length)]?.());
    return `/** ${name()} ${name()} ${name()}. */\nexport function ${camel()}(${name()}: number): number {\n${body.join("\n")}\n  return ${name()};\n}\n\n`;
  });
}

/** Memory pages of a process: zeros, objects, small numbers, text, and a few incompressible ones. */
function memory(): Maker {
  const random = randomFrom(3);
  const prose = text()(1 << 16);
  return (length) => {
    const bytes = new Uint8Array(length);
    const view = new DataView(bytes.buffer);
    for (let page = 0; page < length; page += 4096) {
      fillPage(view, page, Math.min(page + 4096, length), random, prose);
    }
    return bytes;
  };
}

function fillPage(view: DataView<ArrayBuffer>, page: number, end: number, random: Random, prose: Uint8Array): void {
  const bytes = new Uint8Array(view.buffer);
  const kind = random();
  if (kind < 0.25) return;
  const heap = 0x10000 * Math.floor(random() * 65536);
  if (kind < 0.55) return fillWithObjects(view, page, end, random, heap);
  for (let at = page; at + 8 <= end; at += 8) {
    if (kind < 0.75) {
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

/** Objects of 48 bytes: pointers to the class, the next and another object, two small numbers, 8 zero bytes, a hash. */
function fillWithObjects(view: DataView, page: number, end: number, random: Random, heap: number): void {
  const size = 48;
  const pointer = (at: number, low: number): void => {
    view.setUint32(at, low, true);
    view.setUint32(at + 4, 0x7f3a, true);
  };
  for (let at = page; at + size <= end; at += size) {
    pointer(at, 0x1000 + 64 * Math.floor(3 * random() ** 3));
    pointer(at + 8, heap + (at - page) + size);
    pointer(at + 16, heap + size * Math.floor(85 * random()));
    view.setUint32(at + 24, Math.floor(200 * random() ** 2), true);
    view.setUint32(at + 28, random() < 0.8 ? 1 : 3, true);
    view.setUint32(at + 40, 4294967296 * random(), true);
  }
}

function noise(): Maker {
  const most = 65536;
  return (length) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += most) crypto.getRandomValues(bytes.subarray(at, at + most));
    return bytes;
  };
}

const makers: Record<Sample, () => Maker> = {
  json,
  text,
  source,
  memory,
  random: noise,
  zeros: () => (length) => new Uint8Array(length),
};

/** Number of bytes that are generated at a time; each part is moved to a blob, which bounds memory. */
const PART_BYTES = 1 << 20;

/** Generates `bytes` bytes of a sample. */
export async function makeSample(
  { sample, bytes }: { sample: Sample; bytes: number },
  { signal, progress }: Pick<Control<{ bytes: number }>, "signal" | "progress">,
): Promise<Blob> {
  const make = makers[sample]();
  const parts: Blob[] = [];
  for (let at = 0; at < bytes; at += PART_BYTES) {
    parts.push(new Blob([make(Math.min(PART_BYTES, bytes - at))]));
    progress({ bytes: Math.min(at + PART_BYTES, bytes) });
    // Yields, so that messages to cancel are handled.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return new Blob(parts);
}
