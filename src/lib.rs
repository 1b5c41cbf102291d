//! Pagepress compresses and decompresses memory pages and files as standard LZ4, on any GPU and without one.

pub mod batch;
#[cfg(gpu_engine)]
pub mod gpu;
#[cfg(gpu_engine)]
pub mod kernels;
pub mod lz4;
#[cfg(cuda_engine)]
pub mod ptx;
pub mod tensor;

mod clock;
#[cfg(gpu_engine)]
mod copy;
#[cfg(gpu_engine)]
mod cost;
mod error;
#[cfg(any(web_pages, web_tensor))]
mod js_bytes;
mod memory;
#[cfg(gpu_engine)]
mod signal;
#[cfg(web)]
mod web;
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
mod wgsl;

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
#[cfg(gpu_engine)]
pub use gpu::detect::GpuBackend;
