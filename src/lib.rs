//! Pagepress compresses and decompresses memory pages and files as standard LZ4, on any GPU and without one.

pub mod batch;
#[cfg(feature = "wgpu")]
pub mod gpu;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
pub mod kernels;
pub mod lz4;
#[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
pub mod ptx;

mod clock;
mod error;
#[cfg(target_arch = "wasm32")]
pub mod web;

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
