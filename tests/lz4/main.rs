//! Blocks, frames, pages, containers and dictionaries on the CPU, against liblz4, the `lz4` command and naive twins.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod block;
mod command_cases;
#[path = "../common/mod.rs"]
mod common;
mod containers;
mod corrupt;
mod detected_format;
mod dictionary;
mod empty_entries;
mod formats;
mod frame;
mod frame_adapters;
mod frame_dictionary;
mod frame_errors;
mod frame_index;
mod frame_streams;
mod identical;
mod index_mismatch;
mod into;
mod reader_after_error;
mod train;
mod vectors;
