// Takes out of a module what runs only when it panics: a panic is a bug, and becomes a trap without a text, which the
// package reports like any other error. With the texts go the places in the sources that they name.
import { readFile, writeFile } from "node:fs/promises";
import binaryen from "binaryen";

/** Functions that end in a panic, by their Rust names. */
const panics = new RegExp(
  [
    "core(\\[\\w+\\])?::panicking",
    "std(\\[\\w+\\])?::panicking::(begin_panic|panic_handler|panic_with_hook|rust_panic)",
    "console_error_panic_hook::hook",
    "cell::panic_already",
    "raw_vec::(handle_error|capacity_overflow)$",
    "handle_alloc_error$",
    "(expect|unwrap|slice_error|slice_index|len_mismatch|assert)_fail(ed)?\\b",
    "panic_access_error",
    "rust_(begin_unwind|panic)$",
  ].join("|"),
);

/** Names of source files, as panics would tell them. */
const places = /(?:[\w.+-]*\/)+[\w-]+\.rs/g;

/** Rewrites the module in `file`, whose functions still have their names. */
export async function slim(file) {
  const module = binaryen.readBinary(await readFile(file));
  let n = 0;
  for (let i = 0; i < module.getNumFunctions(); i += 1) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(i));
    if (info.base || !panics.test(info.name.replace(/::h[0-9a-f]{16}$/, ""))) continue;
    binaryen.Function(module.getFunctionByIndex(i)).body = module.unreachable();
    n += 1;
  }
  if (n < 10) throw new Error(`${file} has only ${n} functions that panic: were they renamed?`);
  const bytes = Buffer.from(module.emitBinary());
  module.dispose();
  // Latin-1 has a letter for each byte.
  const blanked = bytes.toString("latin1").replace(places, (place) => "\0".repeat(place.length));
  await writeFile(file, Buffer.from(blanked, "latin1"));
}
