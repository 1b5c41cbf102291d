//! The fuzz targets: functions that derive inputs from bytes and return how many they tried. A bug shows as a panic.
//! libFuzzer calls them (`fuzz/fuzz_targets`), and so does `tests/fuzz_replay.rs` on stable Rust.
//!
//! One execution tries the input and others that are derived from it: [`PER_EXECUTION`] has the numbers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a fault is a panic"
)]

mod block;
mod containers;
mod cuda_c;
mod dictionary;
mod frame;
mod gguf;
mod pages;
mod random;
mod raw_blocks;
mod reader;
mod repair;
mod round_trip;
mod seeds;
mod seek;
mod snapshots;
mod wgsl_ptx;

pub use block::block;
pub use containers::containers;
pub use cuda_c::cuda_c;
pub use dictionary::dictionary;
pub use frame::frame;
pub use gguf::gguf;
pub use pages::pages;
pub use raw_blocks::raw_blocks;
pub use reader::reader;
pub use round_trip::round_trip;
pub use seeds::seeds;
pub use seek::seek;
pub use snapshots::snapshots;
pub use wgsl_ptx::wgsl_ptx;

/// Most bytes of content of a frame.
const LIMIT: u64 = 8 << 20;

/// A fuzz target: tries inputs derived from bytes and returns how many.
pub type Target = fn(&[u8]) -> u64;

/// All targets, by name.
pub const TARGETS: [(&str, Target); 13] = [
    ("block", block),
    ("containers", containers),
    ("cuda_c", cuda_c),
    ("dictionary", dictionary),
    ("frame", frame),
    ("gguf", gguf),
    ("pages", pages),
    ("raw_blocks", raw_blocks),
    ("reader", reader),
    ("round_trip", round_trip),
    ("seek", seek),
    ("snapshots", snapshots),
    ("wgsl_ptx", wgsl_ptx),
];

/// Least number of inputs per execution of a target.
pub const PER_EXECUTION: [(&str, u64); 13] = [
    ("block", block::INPUTS),
    ("containers", containers::INPUTS),
    ("cuda_c", cuda_c::INPUTS),
    ("dictionary", dictionary::INPUTS),
    ("frame", frame::INPUTS),
    ("gguf", gguf::INPUTS),
    ("pages", pages::INPUTS),
    ("raw_blocks", raw_blocks::INPUTS),
    ("reader", reader::INPUTS),
    ("round_trip", round_trip::INPUTS),
    ("seek", seek::INPUTS),
    ("snapshots", snapshots::INPUTS),
    ("wgsl_ptx", wgsl_ptx::INPUTS),
];

pub use random::{Random, mutated};

use std::sync::atomic::{AtomicU64, Ordering};

static N_INPUTS: AtomicU64 = AtomicU64::new(0);
static N_EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Runs a target and counts its inputs; prints the totals at intervals, for runs of many processes.
pub fn counted(target: Target, data: &[u8]) {
    let n = N_INPUTS.fetch_add(target(data), Ordering::Relaxed);
    let executions = N_EXECUTIONS.fetch_add(1, Ordering::Relaxed) + 1;
    if executions.is_power_of_two() || executions.is_multiple_of(1 << 12) {
        eprintln!("inputs: {n} in {executions} executions");
    }
}
