//! What several tests share.
#![allow(dead_code, reason = "each test uses a part")]

#[cfg(not(target_arch = "wasm32"))]
pub mod lz4_command;
pub mod naive;
pub mod pages;
