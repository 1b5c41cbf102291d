// Cases of arrays: Zarr, HDF5; and of the packages that the faces replace.
import { File, Filters } from "jsfive";
import * as lz4js from "lz4js";
import NumcodecsBlosc from "numcodecs/blosc";
import NumcodecsLz4 from "numcodecs/lz4";
import { bitshuffle, lz4 as hdf5Lz4 } from "pagepress/adapters/hdf5";
import * as lz4jsFace from "pagepress/adapters/lz4js";
import * as lz4WasmFace from "pagepress/adapters/lz4-wasm";
import { blosc, lz4, register } from "pagepress/adapters/zarr";
import * as zarrita from "zarrita";
import { numbers, refused, ROWS, same } from "./content.js";

/** Returns a store of zarrita whose files are in the folder `name`. */
function folderStore({ read, files }, name) {
  const get = async (key) => {
    const path = `${name}${key}`;
    return files.includes(path) ? read(path) : undefined;
  };
  return { get };
}

async function checkZarr(store, type) {
  const { data } = await zarrita.get(await zarrita.open(store, { kind: "array" }));
  same(data, numbers(type), type);
}

async function zarr(place) {
  register(zarrita.registry);
  const folders = place.files.map((path) => /^(zarr\d\/(\w\d)_(\w+))\/(\.zarray|zarr\.json)$/.exec(path)).filter(Boolean);
  if (folders.length < 40) throw new Error(`${folders.length} arrays`);
  for (const [, folder, type, name] of folders) {
    const check = () => checkZarr(folderStore(place, folder), type);
    if (name !== "zstd") await check();
    else if (!(await refused("NOT_LZ4", check)).message.includes("zstd")) throw new Error("the error does not name zstd");
  }
  await writeZarr(place);
}

const blosc3 = (shuffle, typesize) => ({ name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle, typesize, blocksize: 0 } });

async function writeZarr({ write }) {
  const codecs = { byte: blosc3("shuffle", 8), bit: blosc3("bitshuffle", 8), none: blosc3("noshuffle", 8) };
  for (const [name, codec] of Object.entries(codecs)) {
    const store = new Map();
    const bytes = { name: "bytes", configuration: { endian: "little" } };
    const options = { shape: [ROWS], chunkShape: [3001], dtype: "float64", fillValue: 0, codecs: [bytes, codec] };
    const array = await zarrita.create(store, options);
    await zarrita.set(array, null, { data: numbers("f8"), shape: [ROWS], stride: [1] });
    await checkZarr(store, "f8");
    for (const [key, file] of store) await write(`written.zarr/${name}${key}`, file);
  }
}

/** Chunks of the same content by numcodecs.js and by Pagepress, each read by the other. */
async function numcodecs() {
  const content = new Uint8Array(numbers("f8").buffer);
  const [Blosc, Lz4] = [await blosc(), await lz4()];
  const config = { id: "", clevel: 5, blocksize: 0 };
  for (const cname of ["lz4", "lz4hc"]) {
    for (const shuffle of [0, 1, 2, -1]) {
      for (const n of [0, 1, 100, 127, 128, 1000, 70_001, content.length]) {
        const [theirs, bytes] = [NumcodecsBlosc.fromConfig({ ...config, cname, shuffle }), content.subarray(0, n)];
        const ours = Blosc.fromConfig({ ...config, cname, shuffle }, { dataType: "float64" });
        // Theirs does not know the automatic shuffle that it accepts.
        if (shuffle !== -1) same(ours.decode(await theirs.encode(bytes)), bytes, `${cname} ${shuffle} ${n}, read`);
        same(await theirs.decode(ours.encode(bytes)), bytes, `${cname} ${shuffle} ${n}, written`);
      }
    }
  }
  const [theirs, ours] = [NumcodecsLz4.fromConfig({ acceleration: 1, id: "lz4" }), Lz4.fromConfig({ acceleration: 1 })];
  same(ours.decode(await theirs.encode(content)), content, "lz4, read");
  same(await theirs.decode(ours.encode(content)), content, "lz4, written");
  const out = new Uint8Array(content.length + 1);
  if (ours.decode(ours.encode(content), out) !== out) throw new Error("not the given array");
  same(out.subarray(0, -1), content, "given array");
  const bytes = Blosc.fromConfig().encode(content);
  for (let at = 0; at < 40; at += 1) await checkMutated(Blosc.fromConfig(), bytes, at);
  await refused("INVALID_ARGUMENT", () => Blosc.fromConfig({ cname: "zstd" }).encode(content));
  await refused("INVALID_ARGUMENT", () => Blosc.fromConfig({ shuffle: "bits" }).encode(content));
  await refused("OUTPUT_LIMIT", async () => (await blosc({ maxOutputSize: 10 })).fromConfig().decode(bytes));
  await refused("OUTPUT_LIMIT", () => ours.decode(ours.encode(content), new Uint8Array(10)));
}

/** Decoding a changed chunk gives bytes or a `PagepressError`. */
async function checkMutated(codec, bytes, at) {
  const mutated = bytes.slice();
  mutated[at] ^= 0xff;
  try {
    codec.decode(mutated);
  } catch (error) {
    if (error.name !== "PagepressError" || error.code === "INTERNAL") throw error;
  }
}

async function hdf5({ read }) {
  Filters.set(32004, await hdf5Lz4()).set(32008, await bitshuffle());
  let n = 0;
  for (const file of ["earliest.h5", "v108.h5", "shuffled.h5"]) {
    const bytes = await read(file);
    const opened = new File(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), file);
    for (const name of opened.keys) {
      const check = () => same(opened.get(name).value, numbers(name.slice(0, 2)), `${file} ${name}`);
      if (!name.includes("zstd")) check();
      else if (!(await refused("NOT_LZ4", check)).message.includes("zstd")) throw new Error("the error does not name zstd");
      n += 1;
    }
  }
  if (n < 28) throw new Error(`${n} arrays`);
  await refused("TRUNCATED_FRAME", async () => (await hdf5Lz4())(new ArrayBuffer(5), 4));
  await refused("INVALID_FRAME", async () => (await bitshuffle())(new Uint8Array(12).fill(1).buffer, 4, [0, 4, 4, 0, 2]));
}

async function faces() {
  await lz4jsFace.init();
  const content = new Uint8Array(numbers("f8").buffer);
  same(lz4js.decompress(lz4jsFace.compress(content)), content, "read by lz4js");
  same(lz4jsFace.decompress(lz4js.compress(content)), content, "written by lz4js");
  await refused("OUTPUT_LIMIT", () => lz4jsFace.decompress(lz4js.compress(content), 10));
  const lz4Codec = NumcodecsLz4.fromConfig({ acceleration: 1, id: "lz4" });
  same(await lz4Codec.decode(lz4WasmFace.compress(content)), content, "a block with its size");
  same(lz4WasmFace.decompress(await lz4Codec.encode(content)), content, "a block with its size");
}

export const arrays = { zarr, numcodecs, hdf5, faces };
