// A module whose globals are part of its state, and whose memory grows.
import { freeze as freezeModule, thaw as thawModule } from "./guide/module.js";

const instantiate = async () => (await WebAssembly.instantiateStreaming(fetch("module.wasm"))).instance.exports;

export async function start() {
  return { exports: await instantiate() };
}

export const work = [
  ({ exports }) => exports.step(2_000_000),
  ({ exports }) => {
    exports.grow();
    exports.step(50);
  },
  (machine) => {
    machine.result = [machine.exports.step(3_000_000), machine.exports.memory.buffer.byteLength];
  },
];

export const freeze = ({ exports }, previous) => freezeModule(exports, previous);

export async function thaw(version) {
  const exports = await instantiate();
  await thawModule(version, exports);
  return { exports };
}
