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

/** Formatting that no text but those of panics asks for. Were one to ask, it would get nothing in place of a number. */
const formats = /^<f(32|64) as core::fmt::\w+>::fmt|<wgpu_types::texture::format::TextureFormat as core::fmt::Debug>::fmt/;

/** Names of source files, as panics would tell them. */
const places = /(?:[\w.+-]*\/)+[\w-]+\.rs/g;

/** What Rust's libraries would say, some of it with marks for numbers. */
const texts = new RegExp(
  [
    "slice index starts at .{1,3} but ends at .?",
    "(range (start|end) )?index .{1,8}out of range for slice of length .?",
    "range (start|end) index ",
    "index out of bounds: the len is .{1,3} but the index is .?",
    "copy_from_slice: source slice length \\(.{1,3}\\) does not match destination slice length \\(.{1,3}\\)",
    "assertion failed: [\\w. <>=+()!&]+",
    "attempt to (divide by zero|calculate the remainder with a divisor of zero)",
    "RefCell already (mutably )?borrowed",
    "min > max\\. min = .{1,3}, max = .?",
    "chunk size must be non-zero|capacity overflow|dest is out of bounds|mid > len",
    "too little room for a block",
    "(insertion|removal) index \\(is .{1,3}\\) should be <=? len \\(is .?",
    "cannot (remove a char from the end of a string|recursively acquire mutex)",
    "`async fn` resumed after completion",
  ].join("|"),
  "gs",
);

/** What a module that formats nothing has no use for. */
const formatting = /closure invoked recursively or after being dropped|(?:\d\d){100}|null pointer passed to rust/g;

/** Pointer and length of a path, line and column. */
const LOCATION_BYTES = 16;

/** What wasm-bindgen, which Rust's own libraries for wasm bring along, would make JavaScript of. */
const forGlue = /^__/;

/** Rewrites the module in `file`, whose functions still have their names. */
export async function slim(file) {
  const module = binaryen.readBinary(await readFile(file));
  const exports = Array.from({ length: module.getNumExports() }, (_, i) => module.getExportByIndex(i));
  for (const { name } of exports.map(binaryen.getExportInfo)) if (forGlue.test(name)) module.removeExport(name);
  let n = 0;
  for (let i = 0; i < module.getNumFunctions(); i += 1) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(i));
    if (info.base) continue;
    const name = rustName(info.name);
    const isPanic = panics.test(name);
    if (!isPanic && !formats.test(name)) continue;
    // Of formatting, 0 says that it went well.
    binaryen.Function(module.getFunctionByIndex(i)).body = isPanic ? module.unreachable() : module.i32.const(0);
    n += isPanic ? 1 : 0;
  }
  if (n < 10) throw new Error(`${file} has only ${n} functions that panic: were they renamed?`);
  const emitted = Buffer.from(module.emitBinary());
  module.dispose();
  const bytes = withoutSections(emitted, forGlue);
  blankPanics(bytes, [texts, formatting]);
  await writeFile(file, bytes);
}

/** Zeros what panics would tell: places in the sources, the structures that name them, and texts of the libraries. */
function blankPanics(bytes, unwanted) {
  // Latin-1 has a letter for each byte.
  const letters = bytes.toString("latin1");
  const segments = dataSegments(bytes);
  const addressOf = (at) => {
    const segment = segments.find(({ start, end }) => start <= at && at < end);
    return segment && segment.address + at - segment.start;
  };
  const lengths = new Map();
  for (const { index, 0: place } of letters.matchAll(places)) {
    lengths.set(addressOf(index), place.length);
    bytes.fill(0, index, index + place.length);
  }
  for (const { index, 0: text } of unwanted.flatMap((one) => [...letters.matchAll(one)])) {
    bytes.fill(0, index, index + text.length);
  }
  for (const { start, end, address } of segments) {
    for (let at = start + ((4 - (address % 4)) % 4); at + LOCATION_BYTES <= end; at += 4) {
      const length = lengths.get(bytes.readUInt32LE(at));
      if (length === bytes.readUInt32LE(at + 4)) bytes.fill(0, at, at + LOCATION_BYTES);
    }
  }
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

/** The sections of a module: their number, where they start, where what is in them starts, where they end. */
function* sections(bytes) {
  for (let at = 8; at < bytes.length; ) {
    const start = at;
    const [length, inside] = number(bytes, at + 1);
    at = inside + length;
    yield { id: bytes[start], start, inside, end: at };
  }
}

/** The number that starts at a byte, and where it ends. */
function number(bytes, at) {
  for (let [value, factor] = [0, 1]; ; factor *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at];
  }
}

/** The module without the custom sections of these names. */
function withoutSections(bytes, unwanted) {
  const kept = [bytes.subarray(0, 8)];
  for (const { id, start, inside, end } of sections(bytes)) {
    const [length, name] = id === 0 ? number(bytes, inside) : [0, 0];
    const isUnwanted = id === 0 && unwanted.test(bytes.toString("utf8", name, name + length));
    if (!isUnwanted) kept.push(bytes.subarray(start, end));
  }
  return Buffer.concat(kept);
}

/** Data that is in memory from the start: address, and where it lies in the module. */
function dataSegments(bytes) {
  const segments = [];
  for (const { id, inside } of sections(bytes)) {
    if (id !== 11) continue;
    let [n, at] = number(bytes, inside);
    for (; n > 0; n -= 1) {
      // Active, at a constant: 0, i32.const, the address, end.
      if (bytes[at] !== 0 || bytes[at + 1] !== 0x41) throw new Error("a data segment of another kind");
      const [address, behind] = number(bytes, at + 2);
      const [length, start] = number(bytes, behind + 1);
      segments.push({ address, start, end: start + length });
      at = start + length;
    }
  }
  return segments;
}
