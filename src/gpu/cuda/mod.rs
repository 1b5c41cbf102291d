//! The CUDA engine: NVIDIA's driver and nothing else.
//!
//! Kernels are the same WGSL as everywhere, compiled to PTX by [`crate::ptx`]; the driver makes machine code of it.
//! A device works in its GPU's primary context, so pointers can be exchanged with other CUDA code of the process.
//!
//! The hard thing here is that three streams run at once, so that copies in both directions and kernels overlap:
//! `lanes` keeps what touches the same memory in order. The rest is a thin implementation of
//! [`Backend`](super::Backend).

mod adapter;
mod context;
mod device;
mod driver;
mod event;
mod fault;
mod host;
mod kernel;
mod lanes;
mod launch;
mod memory;
mod stream;
mod wait;

pub use adapter::list;
pub use device::CudaDevice;
pub(crate) use device::open;
pub use host::CudaHostBuffer;
pub use kernel::CudaKernel;
pub use memory::CudaBuffer;
pub use stream::{CudaStream, CudaSubmission};

/// Name of the engine.
const ENGINE: &str = crate::engine::CUDA;
