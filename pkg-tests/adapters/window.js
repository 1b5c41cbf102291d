// Runs all cases and a snapshot in a window, for bundlers. `globalThis.result` has the error of each failed case.
import { restore, snapshot, SnapshotStore } from "pagepress/snapshot";
import { runAll } from "./run-all.js";

async function takesSnapshots() {
  const memory = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) >> 9);
  const first = await snapshot(memory);
  memory[50_000] ^= 1;
  const second = await snapshot(memory, { previous: first });
  const store = await SnapshotStore.open();
  await store.save("latest", second);
  const into = new Uint8Array(memory.length);
  await restore(await store.load("latest"), into);
  if (second.counts.stored !== 1 || into.some((byte, i) => byte !== memory[i])) throw new Error("the snapshot has other content");
}

const result = await runAll();
result.snapshots = await takesSnapshots().then(() => null, (error) => String(error?.stack ?? error));
globalThis.result = result;
