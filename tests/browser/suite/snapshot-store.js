// Tests stores of snapshots in the origin private file system and in IndexedDB.
import { PagepressError } from "/dist/index.js";
import { snapshot, SnapshotStore } from "/dist/snapshot.js";
import { check, rejects, same } from "./check.js";
import { kinds } from "./data.js";

const bytesOf = (seed) => kinds.memory(300_000).map((byte, i) => (i % 50_000 === seed ? byte + 1 : byte));

async function keepsVersions(backend) {
  const name = `store ${Math.random()}`;
  const store = await SnapshotStore.open(name, { backend });
  check(store.place === `${backend}:${name}`, store.place);
  check((await store.list()).length === 0, "a new store is empty");
  await rejects(store.load("first"), "NOT_FOUND", PagepressError);
  const images = [1, 2, 3, 4].map(bytesOf);
  const versions = [];
  for (const image of images) versions.push(await snapshot(image, { previous: versions.at(-1) }));
  await store.save("first", versions[0]);
  await store.save("ünïcode/..\\name", versions[3]);
  // Another tab has another object.
  const other = await SnapshotStore.open(name, { backend });
  const [newest, oldest] = await other.list();
  check(newest.name === "ünïcode/..\\name" && newest.id === versions[3].id && oldest.name === "first", "names");
  check(newest.savedAt >= oldest.savedAt, "times");
  const loaded = await other.load(newest.name);
  check(loaded.chainLength === 4 && loaded.id === versions[3].id, "chain");
  same(await loaded.read(), images[3], "content");
  await other.save("first", versions[1]);
  same(await (await store.load("first")).read(), images[1], "replaced");
  check((await store.collect()).files === 0, "all files are needed");
  await store.save("flat", await loaded.flatten());
  await store.delete("first");
  const collected = await store.collect();
  check(collected.files === 4 && collected.bytes > 0, JSON.stringify(collected));
  same(await (await other.load(newest.name)).read(), images[3], "after collect");
  await store.delete("flat");
  await store.delete(newest.name);
  check((await store.collect()).files === 1 && (await store.list()).length === 0, "nothing is left");
  for (const wrong of ["", "x".repeat(300), undefined]) await rejects(store.save(wrong, versions[0]), "INVALID_ARGUMENT", PagepressError);
  store.close();
}

/** Writes every file of a store again, as another tab does that saves the same versions. */
async function writeAgain(name, getFile = FileSystemFileHandle.prototype.getFile) {
  const root = await navigator.storage.getDirectory();
  const folder = await (await root.getDirectoryHandle("pagepress-snapshots")).getDirectoryHandle(encodeURIComponent(name));
  for await (const handle of folder.values()) {
    const bytes = await (await getFile.call(handle)).arrayBuffer();
    const stream = await handle.createWritable();
    await stream.write(bytes);
    await stream.close();
  }
}

async function readsFilesWrittenAgain() {
  const name = `again ${Math.random()}`;
  const store = await SnapshotStore.open(name, { backend: "opfs" });
  const images = [1, 2].map(bytesOf);
  const first = await snapshot(images[0]);
  await store.save("last", await snapshot(images[1], { previous: first }));
  const loaded = await store.load("last");
  await writeAgain(name);
  same(await loaded.read(), images[1], "content");
  store.close();
}

/** Each of the next `nTimes` files that are opened is written again before it is read. */
async function writeBehindReaders(name, nTimes) {
  const { getFile } = FileSystemFileHandle.prototype;
  let left = nTimes;
  FileSystemFileHandle.prototype.getFile = async function () {
    const file = await getFile.call(this);
    if (left > 0 && file.size > 1000) {
      left -= 1;
      await writeAgain(name, getFile);
    }
    return file;
  };
  return () => Object.assign(FileSystemFileHandle.prototype, { getFile });
}

async function readsFilesThatAreWrittenRepeatedly() {
  const name = `repeatedly ${Math.random()}`;
  const store = await SnapshotStore.open(name, { backend: "opfs" });
  await store.save("last", await snapshot(bytesOf(1)));
  const restore = await writeBehindReaders(name, 4);
  try {
    same(await (await store.load("last")).read(), bytesOf(1), "content");
  } finally {
    restore();
  }
  store.close();
}

async function choosesAPlace() {
  const store = await SnapshotStore.open(`place ${Math.random()}`);
  check(store.place.startsWith("opfs:"), store.place);
  await rejects(SnapshotStore.open(""), "INVALID_ARGUMENT", PagepressError);
  await rejects(SnapshotStore.open("x", { backend: "disk" }), "INVALID_ARGUMENT", PagepressError);
  await rejects(SnapshotStore.open("x", { beckend: "opfs" }), "INVALID_ARGUMENT", PagepressError);
}

async function takesTurns() {
  const name = `turns ${Math.random()}`;
  const stores = await Promise.all([1, 2, 3].map(() => SnapshotStore.open(name)));
  const images = [1, 2, 3, 4, 5, 6].map(bytesOf);
  const versions = await Promise.all(images.map((image) => snapshot(image)));
  await Promise.all(versions.flatMap((version, i) => [stores[i % 3].save("last", version), stores[(i + 1) % 3].save(`v${i}`, version), stores[i % 3].collect()]));
  for (const [i, image] of images.entries()) same(await (await stores[0].load(`v${i}`)).read(), image, `v${i}`);
  const last = (await stores[1].list()).find((one) => one.name === "last");
  check(versions.some(({ id }) => id === last.id), "the last one is whole");
}

export const cases = [
  ["keeps versions in the origin private file system", () => keepsVersions("opfs")],
  ["keeps versions in IndexedDB", () => keepsVersions("indexeddb")],
  ["reads files that are written again", readsFilesWrittenAgain],
  ["reads files that are written again and again", readsFilesThatAreWrittenRepeatedly],
  ["chooses a place", choosesAPlace],
  ["stores of one name take turns", takesTurns],
];
