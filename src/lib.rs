//! Pagepress compresses and decompresses memory pages and files as standard LZ4, on any GPU and without one.

#[cfg(feature = "wgpu")]
pub mod kernels;
pub mod lz4;

#[cfg(feature = "wgpu")]
pub mod gpu;

mod error;

pub use error::{Error, Result};
