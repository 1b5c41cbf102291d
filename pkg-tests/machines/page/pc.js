// A PC of v86 whose serial port is read by lines.
import { V86 } from "v86";

/** Options of all PCs: what the machine consists of must be the same when it is thawed. */
const devices = {
  wasm_path: "node_modules/v86/build/v86.wasm",
  vga_memory_size: 2 ** 20,
  acpi: false,
  autostart: false,
  disable_keyboard: true,
  disable_mouse: true,
  disable_speaker: true,
};

/** Creates a stopped PC. */
export async function openPc(options) {
  const emulator = new V86({ ...devices, ...options });
  await new Promise((resolve) => emulator.add_listener("emulator-loaded", resolve));
  const pc = { emulator, line: "", onLine: () => undefined };
  emulator.add_listener("serial0-output-byte", (byte) => {
    if (byte !== 10) {
      pc.line += String.fromCharCode(byte);
      return;
    }
    const line = pc.line.trim();
    pc.line = "";
    pc.onLine(line);
  });
  return pc;
}

/** Lets the PC run until it prints a line for which `isLast` is true, stops it and resolves to the line. */
export async function runUntil(pc, isLast) {
  const found = new Promise((resolve) => {
    pc.onLine = (line) => {
      if (isLast(line)) resolve(line);
    };
  });
  await pc.emulator.run();
  const line = await found;
  await pc.emulator.stop();
  return line;
}
