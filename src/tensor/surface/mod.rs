//! The surfaces that run operations: tensors on a device, slices on a device, on several or on the CPU, and batches.

pub(super) mod arrays;
pub(super) mod backend;
#[cfg(not(target_arch = "wasm32"))]
mod backend_blocking;
mod backend_operations;
pub(super) mod batch;
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
#[cfg(web_tensor)]
pub(super) mod web;
