// Runs a machine in three parts: all at once, or with two freezes, a reload of the page, and a thaw between them.
import { diff, restore, snapshot, SnapshotStore } from "pagepress/snapshot";
import { measured } from "./measure.js";

const machineOf = (name) => import(`./${name}.js`);
const store = (name) => SnapshotStore.open(name);

/** Loads the modules of the package before the first measurement. */
const warm = () => snapshot(Uint8Array.from({ length: 4096 }, (_, i) => i % 251));

/** Returns the figures of a version. */
async function figures(version, { ms, blockedMs }) {
  const { byteLength, counts, chainLength } = version;
  return { byteLength, fileBytes: (await version.toFile()).length, counts, chainLength, ms, blockedMs };
}

/** Runs all parts without a freeze and returns the result. */
async function whole(name) {
  const { start, work } = await machineOf(name);
  const machine = await start();
  for (const part of work) await part(machine);
  return machine.result;
}

/** Runs the first part, freezes, runs the second one, freezes again, and stores both versions. */
async function freezeTwice(name) {
  const { start, work, freeze } = await machineOf(name);
  const machine = await start();
  await warm();
  await work[0](machine);
  const first = await measured(() => freeze(machine));
  await work[1](machine);
  const second = await measured(() => freeze(machine, first.value));
  const versions = await store(name);
  await versions.save("first", first.value);
  await versions.save("second", second.value);
  const { changedBytes } = diff(first.value, second.value);
  return { first: await figures(first.value, first), second: await figures(second.value, second), changedBytes };
}

/** Restores the version `label` in a page that has not started the machine, freezes it at once, and runs the rest. */
async function thawStored(name, label) {
  const { work, freeze, thaw } = await machineOf(name);
  const version = await (await store(name)).load(label);
  await warm();
  const arrays = Object.fromEntries(version.regions.map((region) => [region.name, new Uint8Array(region.byteLength)]));
  const restored = await measured(() => restore(version, arrays));
  const taken = await measured(() => snapshot(arrays));
  const thawed = await measured(() => thaw(version));
  const machine = thawed.value;
  const again = await measured(() => freeze(machine, version));
  for (const part of label === "first" ? work.slice(1) : work.slice(2)) await part(machine);
  const times = ({ ms, blockedMs }) => ({ ms, blockedMs });
  return { result: machine.result, restored: times(restored), taken: times(taken), thawed: times(thawed), again: await figures(again.value, again) };
}

/** Measures a second without work. */
const idle = () => measured(() => new Promise((resolve) => setTimeout(resolve, 1000)));

globalThis.machines = { idle, whole, freezeTwice, thawStored };
