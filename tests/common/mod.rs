//! Helpers that several test targets use.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(cuda_engine)]
pub mod chunk_rates;
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
pub mod chunks;
#[cfg(cuda_engine)]
pub mod cuda;
#[cfg(gpu_engine)]
pub mod devices;
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
pub mod engine;
#[cfg(cuda_engine)]
pub mod foreign;
#[cfg(not(target_arch = "wasm32"))]
pub mod harness;
#[cfg(target_arch = "wasm32")]
pub mod limit;
#[cfg(not(target_arch = "wasm32"))]
pub mod lz4_command;
pub mod naive;
pub mod pages;
pub mod records;
#[cfg(cuda_engine)]
pub mod slow;
