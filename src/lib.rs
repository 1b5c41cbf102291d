//! Pagepress compresses and decompresses memory pages and files as standard LZ4, on any GPU and without one.

#[cfg_attr(
    not(feature = "wgpu"),
    expect(
        clippy::infallible_destructuring_match,
        reason = "there are more plans with a GPU"
    )
)]
pub mod batch;
#[cfg(feature = "wgpu")]
#[cfg_attr(
    target_arch = "wasm32",
    expect(
        clippy::arc_with_non_send_sync,
        reason = "the same code shares devices between threads natively"
    )
)]
pub mod gpu;
#[cfg(feature = "wgpu")]
pub mod kernels;
pub mod lz4;

mod clock;
mod error;
#[cfg(target_arch = "wasm32")]
pub mod web;

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
