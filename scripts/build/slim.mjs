// Takes out of a module what runs only when it panics: a panic is a bug, and becomes a trap without a text, which the
// package reports like any other error. With the texts go the places in the sources that they name.
import { readFile, writeFile } from "node:fs/promises";
import binaryen from "binaryen";

/** Functions that end in a panic, by their Rust names. */
const panics = new RegExp(
  [
    "core::panicking",
    "std::panicking::(begin_panic|panic_handler|panic_with_hook|rust_panic)",
    "cell::panic_already",
    "RawVecInner::(handle_error|capacity_overflow)$",
    "raw_vec::(handle_error|capacity_overflow)$",
    "handle_alloc_error$",
    "rust_oom$",
    "(expect|unwrap|slice_error|slice_index|len_mismatch|assert)_fail(ed)?\\b",
    "panic_access_error",
    "rust_(begin_unwind|panic)$",
  ].join("|"),
);

/** Names of source files, as panics would tell them. */
const places = /(?:[\w.+-]*\/)+[\w-]+\.rs/g;

/** Exports that are there for generated JavaScript. */
const forGlue = /^__/;

/** Rewrites the module in `file`, whose functions still have their names; `isPlain` says that it has no glue. */
export async function slim(file, isPlain = false) {
  const module = binaryen.readBinary(await readFile(file));
  if (isPlain) {
    const exports = Array.from({ length: module.getNumExports() }, (_, i) => module.getExportByIndex(i));
    for (const { name } of exports.map(binaryen.getExportInfo)) if (forGlue.test(name)) module.removeExport(name);
  }
  let n = 0;
  for (let i = 0; i < module.getNumFunctions(); i += 1) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(i));
    if (info.base || !panics.test(rustName(info.name))) continue;
    binaryen.Function(module.getFunctionByIndex(i)).body = module.unreachable();
    n += 1;
  }
  if (n < 10) throw new Error(`${file} has only ${n} functions that panic: were they renamed?`);
  const emitted = Buffer.from(module.emitBinary());
  module.dispose();
  const bytes = isPlain ? withoutSections(emitted, forGlue) : emitted;
  // Latin-1 has a letter for each byte.
  const blanked = bytes.toString("latin1").replace(places, (place) => "\0".repeat(place.length));
  await writeFile(file, Buffer.from(blanked, "latin1"));
}

/** The path that a symbol names: its identifiers. wasm-bindgen leaves names as paths, but for hashes. */
function rustName(symbol) {
  if (!/^_(R|ZN)/.test(symbol)) return symbol.replace(/::h[0-9a-f]{16}$/, "").replace(/\[\w+\]/g, "");
  const names = [];
  const rest = symbol.replace(/Cs[0-9A-Za-z]*_/g, "").replace(/17h[0-9a-f]{16}E$/, "");
  for (let at = 0; at < rest.length; ) {
    const length = /^\d+/.exec(rest.slice(at))?.[0];
    if (length === undefined) {
      at += 1;
      continue;
    }
    at += length.length;
    names.push(rest.slice(at, at + Number(length)).replace(/^_(?=[_\d])/, ""));
    at += Number(length);
  }
  return names.join("::");
}

/** The module without the custom sections of these names. */
function withoutSections(bytes, unwanted) {
  let at = 8;
  const number = () => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
      shift += 7;
    }
  };
  const kept = [bytes.subarray(0, at)];
  while (at < bytes.length) {
    const start = at;
    const id = bytes[at++];
    const length = number();
    const end = at + length;
    const nameLength = id === 0 ? number() : 0;
    const isUnwanted = id === 0 && unwanted.test(bytes.toString("utf8", at, at + nameLength));
    if (!isUnwanted) kept.push(bytes.subarray(start, end));
    at = end;
  }
  return Buffer.concat(kept);
}
