//! Frames on any engine: in memory, in parts, and as adapters for readers and writers.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod adapters;
#[cfg(feature = "futures-io")]
pub(crate) mod async_adapters;
pub(crate) mod frames;
#[cfg(gpu_engine)]
pub(crate) mod gpu_frames;
#[cfg(gpu_engine)]
mod gpu_parts;
pub(crate) mod session;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
