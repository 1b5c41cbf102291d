// A PC with the Linux kernel, busybox and SeaBIOS of Debian. A shell script computes numbers and appends them to a file.
import { freeze as freezePc, thaw as thawPc } from "./guide/v86.js";
import { openPc, runUntil } from "./pc.js";

// v86 loads the initial file system at 64 MiB.
const options = { memory_size: 2 ** 27 };
const [ROUNDS, STEPS] = [40, 500];

export async function start() {
  const images = { bios: { url: "images/bios.bin" }, vga_bios: { url: "images/vgabios.bin" } };
  const kernel = { bzimage: { url: "images/linux" }, initrd: { url: "images/initrd.cpio" } };
  const cmdline = `console=ttyS0 quiet mitigations=off tsc=reliable random.trust_cpu=on ROUNDS=${ROUNDS} STEPS=${STEPS}`;
  return openPc({ ...options, ...images, ...kernel, cmdline });
}

/** Returns the last line of the script: the hash of its file. */
async function expectedLine() {
  let [x, log] = [1n, ""];
  for (let round = 0; round < ROUNDS; round++) {
    for (let step = 0; step < STEPS; step++) x = (x * 1103515245n + 12345n) & 0x7fffffffn;
    log += `${x}\n`;
  }
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(log)));
  return `done ${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}  -`;
}

export const work = [
  (pc) => runUntil(pc, (line) => line.startsWith("round 10 ")),
  (pc) => runUntil(pc, (line) => line.startsWith("round 15 ")),
  async (pc) => {
    pc.result = await runUntil(pc, (line) => line.startsWith("done "));
    const expected = await expectedLine();
    if (pc.result !== expected) throw new Error(`the script printed ${pc.result}, not ${expected}`);
  },
];

export const freeze = ({ emulator }, previous) => freezePc(emulator, previous);

export async function thaw(version) {
  const pc = await openPc(options);
  await thawPc(version, pc.emulator);
  return pc;
}
