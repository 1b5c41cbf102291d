#!/bin/sh
# Builds all targets, optimised and with AddressSanitizer, as stand-alone programs: fuzz/build.sh FOLDER
# Needs a nightly toolchain. What it writes runs on any x86-64 Linux with glibc, with nothing installed.
set -eu
cd "$(dirname "$0")"
out=${1:?usage: fuzz/build.sh FOLDER}
target=${FUZZ_TARGET:-x86_64-unknown-linux-gnu}
build=${FUZZ_BUILD:-target}
# What cargo-fuzz gives the compiler.
export RUSTFLAGS="--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
-Cllvm-args=-simplifycfg-branch-fold-threshold=0 ${FUZZ_RUSTFLAGS:-}"
cargo +nightly build --release --target "$target" --target-dir "$build"
mkdir -p "$out"
for source in fuzz_targets/*.rs; do
    name=$(basename "$source" .rs)
    cp "$build/$target/release/$name" "$out/$name"
    # Names of functions stay, for the traces of crashes.
    strip --strip-debug "$out/$name"
done
cp run.sh "$out/"
mkdir -p "$out/corpus"
cp -r corpus/. "$out/corpus/"
ls -l "$out"
