//! What several tests share.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod command;
#[cfg(not(target_arch = "wasm32"))]
pub mod lz4_command;
pub mod naive;
pub mod pages;
