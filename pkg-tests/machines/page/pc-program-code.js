// A program for a PC in protected mode, as a multiboot image, and the same computation in JavaScript.
//
// It fills 4 MiB with pseudo-random numbers. Each round then mixes numbers from there into 64 KiB, and writes the number of the
// round and the last number to the serial port, in letters from a to p for each four bits.

const LOAD = 0x100000;
const SEED = 0x12345678;
const STEPS = 0x100000;
const [FILLED, MIXED, END] = [0x400000, 0x800000, 0x810000];

/** Bytes of instructions, and `[opcode, label]` for a relative call or jump of 32 bits; a text alone is a label. */
const code = [
  [0xbc, 0, 0, 0x30, 0], // mov esp, 0x300000
  [0xb8, 0x78, 0x56, 0x34, 0x12], // mov eax, SEED
  [0xbf, 0, 0, 0x40, 0], // mov edi, FILLED
  "fill",
  [0xe8, "next"],
  [0x89, 0x07], // mov [edi], eax
  [0x83, 0xc7, 4], // add edi, 4
  [0x81, 0xff, 0, 0, 0x80, 0], // cmp edi, MIXED
  [0x0f, 0x82, "fill"], // jb
  [0x31, 0xf6], // xor esi, esi: the number of the round
  "round",
  [0xbd, 0, 0, 0x10, 0], // mov ebp, STEPS
  "step",
  [0xe8, "next"],
  [0x89, 0xc1], // mov ecx, eax
  [0x81, 0xe1, 0xfc, 0xff, 0x3f, 0], // and ecx, 0x3ffffc
  [0x33, 0x81, 0, 0, 0x40, 0], // xor eax, [ecx + FILLED]
  [0x33, 0x07], // xor eax, [edi]
  [0x89, 0x07], // mov [edi], eax
  [0x83, 0xc7, 4], // add edi, 4
  [0x81, 0xe7, 0xfc, 0xff, 0x80, 0], // and edi, 0x80fffc: stays in the 64 KiB from MIXED
  [0x4d], // dec ebp
  [0x0f, 0x85, "step"], // jnz
  [0x46], // inc esi
  [0x89, 0xf3], // mov ebx, esi
  [0xe8, "print"],
  [0x89, 0xc3], // mov ebx, eax
  [0xe8, "print"],
  [0x50, 0xb0, 10, 0xee, 0x58], // push eax; mov al, 10; out dx, al; pop eax
  [0xe9, "round"],
  "next",
  [0x89, 0xc1, 0xc1, 0xe1, 13, 0x31, 0xc8], // eax ^= eax << 13
  [0x89, 0xc1, 0xc1, 0xe9, 17, 0x31, 0xc8], // eax ^= eax >>> 17
  [0x89, 0xc1, 0xc1, 0xe1, 5, 0x31, 0xc8], // eax ^= eax << 5
  [0x05, 0xb9, 0x79, 0x37, 0x9e], // add eax, 0x9e3779b9
  [0xc3], // ret
  "print",
  [0x50, 0x66, 0xba, 0xf8, 0x03, 0xb1, 8], // push eax; mov dx, 0x3f8; mov cl, 8
  "letter",
  [0xc1, 0xc3, 4, 0x88, 0xd8], // rol ebx, 4; mov al, bl
  [0x24, 15, 0x04, 0x61, 0xee], // and al, 15; add al, "a"; out dx, al
  [0xfe, 0xc9], // dec cl
  [0x0f, 0x85, "letter"], // jnz
  [0x58, 0xc3], // pop eax; ret
];

/** Returns the image: a multiboot header with addresses, and the program. */
export function programBytes() {
  const labels = new Map();
  const bytes = [];
  const calls = [];
  for (const line of code) {
    if (typeof line === "string") labels.set(line, bytes.length);
    else {
      for (const part of line) {
        if (typeof part === "number") bytes.push(part);
        else calls.push({ at: bytes.push(0, 0, 0, 0) - 4, label: part });
      }
    }
  }
  const image = new Uint8Array(32 + bytes.length);
  const view = new DataView(image.buffer);
  const [magic, flags, end] = [0x1badb002, 0x10000, LOAD + image.length];
  [magic, flags, -(magic + flags), LOAD, LOAD, end, end, LOAD + 32].forEach((word, i) => view.setInt32(4 * i, word, true));
  image.set(bytes, 32);
  for (const { at, label } of calls) view.setInt32(32 + at, labels.get(label) - (at + 4), true);
  return image;
}

/** Returns the line that the program prints after round `n`. */
export function expectedLine(n) {
  const memory = new Int32Array(END / 4);
  let state = SEED;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state = (state + 0x9e3779b9) | 0;
  };
  for (let at = FILLED; at < MIXED; at += 4) {
    next();
    memory[at / 4] = state;
  }
  for (let [round, at] = [0, MIXED]; round < n; round++) {
    for (let step = 0; step < STEPS; step++) {
      next();
      state ^= memory[(FILLED + (state & 0x3ffffc)) / 4];
      state ^= memory[at / 4];
      memory[at / 4] = state;
      at = at + 4 < END ? at + 4 : MIXED;
    }
  }
  return letters(n) + letters(state);
}

/** Returns the number of the round that a line names; 0 for a part of a line, as after a thaw. */
export function roundOf(line) {
  if (line.length !== 16) return 0;
  return [...line.slice(0, 8)].reduce((sum, letter) => 16 * sum + letter.charCodeAt(0) - 97, 0);
}

function letters(word) {
  return Array.from({ length: 8 }, (_, i) => String.fromCharCode(97 + ((word >>> (28 - 4 * i)) & 15))).join("");
}
