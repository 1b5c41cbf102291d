//! GGUF files and packed numbers: files by ggml's own package (`write.py`), hostile bytes, and quantising.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod build;
mod files;
mod hostile;
mod quantize;
