// Benchmarks snapshots of a memory in Node: node benches/packages/snapshots.mjs FILE...
//
// The memory has 64 MiB: the content of FILEs, repeated as needed, then zeros from three quarters on. Prints milliseconds, best
// and median of rounds, of a first snapshot, of an increment after 5 % of the pages have changed, and of a restore, with the
// longest time between two turns of the event loop; beside it the time of one copy and of `compressPages`. Every result is
// verified first. Needs dist/: `npm run build`. --mib=N is the size, --workers=N the number of workers.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createCompressor } from "../../dist/index.js";
import { openSnapshot, restore, snapshot } from "../../dist/snapshot.js";

const PAGE = 4096;
const N_ROUNDS = 15;

const { options, files } = argumentsOf(process.argv.slice(2));
const bytes = await memoryOf(files, options.mib * 2 ** 20);
const compressor = await createCompressor({ backend: "cpu", ...(options.workers !== undefined && { workers: options.workers }) });
const into = new Uint8Array(bytes.length);

const first = await snapshot(bytes, { compressor });
await restore(first, into);
assert.equal(Buffer.compare(into, bytes), 0);
const before = bytes.slice();
// One page of 20, in groups of 1 to 3 as programs change them; 64 bytes of each.
for (let page = 0; page * PAGE < bytes.length; page += 20) {
  const start = (page + (page % 3)) * PAGE;
  for (let i = 0; i < 64 && start + i * 61 < bytes.length; i += 1) bytes[start + i * 61] = (i * 7 + page) & 255;
}
const next = await snapshot(bytes, { previous: first, compressor });
const opened = await openSnapshot(await next.toFile(), { previous: await openSnapshot(await first.toFile()) });
await restore(opened, into);
assert.equal(Buffer.compare(into, bytes), 0);

const changed = new Uint8Array(next.counts.stored * PAGE);
let at = 0;
for (let start = 0; start < bytes.length; start += PAGE) {
  const page = bytes.subarray(start, start + PAGE);
  if (Buffer.compare(page, before.subarray(start, start + PAGE)) !== 0 && at < changed.length) {
    changed.set(page, at);
    at += PAGE;
  }
}
const alone = await compressor.compressPages(changed);
const { pages, unchanged, filled, copied, stored, storedBytes } = next.counts;
console.log(`${cpus()[0].model}, ${cpus().length} cores, Node ${process.versions.node}, ${options.workers ?? "default"} workers`);
console.log(`${pages} pages: ${unchanged} unchanged, ${filled} filled, ${copied} copied, ${stored} stored in ${storedBytes} bytes`);
console.log(`increment file ${(await next.toFile()).length} bytes; its pages alone ${alone.packed.length + alone.table.byteLength}; first file ${(await first.toFile()).length}\n`);
console.log("| | best, ms | median, ms | longest turn, ms |\n|---|---|---|---|");
const cases = {
  "copy of the memory": async () => into.set(bytes),
  "compressPages of the memory": () => compressor.compressPages(bytes),
  "first snapshot": () => snapshot(bytes, { compressor }),
  "increment, 5 % of the pages changed": () => snapshot(bytes, { previous: first, compressor }),
  "restore the increment": () => restore(next, into),
  "restore from its file": () => restore(opened, into),
  "write the first file": () => first.toFile(),
};
const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
for (let round = 0; round < N_ROUNDS; round += 1) {
  for (const [name, work] of Object.entries(cases)) times[name].push(await measure(work));
}
for (const [name, all] of Object.entries(times)) {
  const sorted = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const turns = all.map(({ longest }) => longest).sort((a, b) => a - b);
  console.log(`| ${name} | ${sorted[0].toFixed(1)} | ${sorted[N_ROUNDS >> 1].toFixed(1)} | ${turns[N_ROUNDS >> 1].toFixed(1)} |`);
}
await compressor.dispose();

/** Returns the milliseconds of `work`, and the longest time in it between two turns of the event loop. */
async function measure(work) {
  let [longest, last, isDone] = [0, performance.now(), false];
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  const start = performance.now();
  setImmediate(turn);
  await work();
  const ms = performance.now() - start;
  isDone = true;
  await new Promise(setImmediate);
  return { ms, longest };
}

async function memoryOf(names, length) {
  const content = Buffer.concat(await Promise.all(names.map((name) => readFile(name))));
  if (content.length === 0) throw new Error("give files for the content of the memory");
  const memory = new Uint8Array(length);
  for (let start = 0; start < length * 0.75; start += content.length) memory.set(content.subarray(0, length * 0.75 - start), start);
  return memory;
}

function argumentsOf(given) {
  const found = { mib: 64, workers: undefined };
  const names = [];
  for (const one of given) {
    const [, key, value] = /^--(\w+)=(\d+)$/.exec(one) ?? [];
    if (key === undefined) names.push(one);
    else if (key in found) found[key] = Number(value);
    else throw new Error(`no option --${key}`);
  }
  return { options: found, files: names };
}
