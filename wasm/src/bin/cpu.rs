//! Files, and pages on the CPU.

#![cfg_attr(target_arch = "wasm32", no_main)]

#[cfg(target_arch = "wasm32")]
use pagepress as _;

#[cfg(not(target_arch = "wasm32"))]
fn main() {}
