//! The CUDA engine. It needs NVIDIA's driver only.
//!
//! Kernels are the same WGSL as on other engines, compiled to PTX by [`crate::ptx`]; the driver compiles that to
//! machine code. A device uses its GPU's primary context, so pointers can be exchanged with other CUDA code of the
//! process.
//!
//! The main difficulty is that several streams run concurrently, so that kernels overlap with copies in both
//! directions: `lanes` orders accesses to the same memory. Everything else is a thin implementation of
//! [`Backend`](super::Backend).

mod adapter;
mod allocation;
mod compile;
mod context;
mod device;
mod driver;
mod event;
mod fault;
mod foreign;
mod host;
mod kernel;
mod lanes;
mod launch;
mod memory;
mod shared;
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
