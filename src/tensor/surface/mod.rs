//! The public API of tensor operations: on resident tensors, on slices (one device, several devices or the CPU) and in
//! batches.

pub(super) mod arrays;
pub(super) mod backend;
#[cfg(not(target_arch = "wasm32"))]
mod backend_blocking;
mod backend_operations;
pub(super) mod batch;
mod batch_elementwise;
mod calibrate;
mod device;
#[cfg(not(target_arch = "wasm32"))]
mod device_blocking;
mod graph;
mod pool;
pub(super) mod quantized;
pub(super) mod resident;
#[cfg(not(target_arch = "wasm32"))]
mod resident_blocking;
mod resident_types;
#[cfg(web_tensor)]
pub(super) mod web;
