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
#[cfg(js_engine)]
mod js;
#[cfg(web_module)]
mod js_bytes;
mod memory;
#[cfg(gpu_engine)]
mod signal;
mod text;
#[cfg(all(target_arch = "wasm32", any(feature = "npm", feature = "web-gpu")))]
pub mod web;
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
mod wgsl;

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
#[cfg(all(gpu_engine, not(js_engine)))]
pub use gpu::detect::GpuBackend;

#[cfg(all(js_engine, feature = "wgpu"))]
compile_error!("the feature `npm-tensor` drives WebGPU itself: leave the feature `wgpu` out");
