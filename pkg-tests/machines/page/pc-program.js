// A PC without a BIOS that runs a program from pc-program-code.js: a chain of numbers that depends on 4 MiB of memory.
import { expectedLine, programBytes, roundOf } from "./pc-program-code.js";
import { freeze as freezePc, thaw as thawPc } from "./guide/v86.js";
import { openPc, runUntil } from "./pc.js";

// Without a BIOS, v86 can only restore a disk controller that has a disk.
const options = () => ({ memory_size: 2 ** 24, hda: { buffer: new ArrayBuffer(2 ** 20) } });

export async function start() {
  return openPc({ ...options(), multiboot: { buffer: programBytes().buffer } });
}

const untilRound = (n) => (pc) => runUntil(pc, (line) => roundOf(line) >= n);

export const work = [
  untilRound(4),
  untilRound(6),
  async (pc) => {
    pc.result = await runUntil(pc, (line) => roundOf(line) === 12);
    if (pc.result !== expectedLine(12)) throw new Error(`the program printed ${pc.result}, not ${expectedLine(12)}`);
  },
];

export const freeze = ({ emulator }, previous) => freezePc(emulator, previous);

export async function thaw(version) {
  const pc = await openPc(options());
  await thawPc(version, pc.emulator);
  return pc;
}
