// Saves to a store of snapshots until the page is closed or the storage is full; see harness/store-crash.mjs.
import { PagepressError } from "/dist/index.js";
import { snapshot, SnapshotStore } from "/dist/snapshot.js";

const BYTES = 24 * 2 ** 20;

/** Returns noise, so that a file is as long as its content. */
function noise(length, seed) {
  const words = new Uint32Array(length / 4);
  let state = seed;
  for (let i = 0; i < words.length; i += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + i;
    words[i] = state;
  }
  return new Uint8Array(words.buffer);
}

/** Saves noise under the name of its seed, and removes what an earlier page has left. */
export async function save(backend, seed) {
  const store = await SnapshotStore.open("crash", { backend });
  await store.save(String(seed), await snapshot(noise(BYTES, seed)));
  await store.collect();
}

/** Fails unless every named version has the content that its name tells. Returns the number of versions, and deletes them. */
export async function verify(backend) {
  const store = await SnapshotStore.open("crash", { backend });
  const versions = await store.list();
  for (const { name } of versions) {
    const content = await (await store.load(name)).read();
    const expected = noise(BYTES, Number(name));
    if (content.some((byte, i) => byte !== expected[i])) throw new Error(`version ${name} has other content`);
    await store.delete(name);
  }
  await store.collect();
  return versions.length;
}

/** Saves until the storage is full, and returns the error. All versions before it stay readable, and after some are deleted
 * others can be saved. */
export async function fill(backend) {
  const store = await SnapshotStore.open("full", { backend });
  for (let seed = 1; seed < 50; seed += 1) {
    const version = await snapshot(noise(4 * 2 ** 20, seed));
    const error = await store.save(String(seed), version).then(() => undefined, (reason) => reason);
    if (!error) continue;
    const versions = await store.list();
    for (const { name } of versions) await (await store.load(name)).read();
    for (const { name } of versions) await store.delete(name);
    await store.collect();
    await store.save("after", version);
    return { code: error.code, message: error.message, isOwn: error instanceof PagepressError, versions: versions.length };
  }
  throw new Error("the storage does not get full");
}

// In a worker, calls come as messages.
if (globalThis.document === undefined) {
  const calls = { save, verify, fill };
  self.onmessage = async ({ data: [name, ...args] }) => {
    try {
      self.postMessage({ value: await calls[name](...args) });
    } catch (error) {
      self.postMessage({ error: String(error) });
    }
  };
}
