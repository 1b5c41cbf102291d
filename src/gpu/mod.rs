//! What runs kernels: devices, and the interface that all work is written against.
//!
//! [`Backend`] is that interface: compile WGSL, allocate, record launches and copies, submit, wait. An engine
//! implements it ([`wgpu`] everywhere, `cuda` natively); [`GpuDevice`] is the front over all engines and implements it too, with handles
//! that know their engine. Everything is asynchronous; natively the same names without `_async` block.

mod backend;
mod budget;
mod check;
mod choice;
#[cfg(cuda_engine)]
pub mod cuda;
pub(crate) mod detect;
mod device;
mod device_pool;
mod handles;
mod id;
mod info;
mod open;
mod pipeline_cache;
mod pool;
pub mod runtime;
pub mod shaders;
pub(crate) mod spread;
pub(crate) mod times;
#[cfg(not(target_arch = "wasm32"))]
mod watch;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub use backend::{
    Backend, HostMemory, HostUse, KernelArg, KernelSource, Place, Recorder, Sized64, Waitable,
};
pub use choice::{
    DeviceRequest, EngineChoice, LimitTier, PowerPreference, Rejected, RuntimeChecks,
    SpirvPassthrough,
};
#[cfg(cuda_engine)]
pub use detect::CudaContext;
#[cfg(feature = "wgpu")]
pub use detect::WgpuContext;
pub use device::GpuDevice;
pub use device_pool::GpuDevicePool;
pub use handles::{Buffer, HostBuffer, Kernel, Stream, Submission};
pub use id::DeviceId;
pub use info::{Capabilities, DeviceKind, GpuDeviceInfo};
#[cfg(feature = "fault-injection")]
#[doc(hidden)]
pub use open::fail_opening;
pub use pipeline_cache::PipelineCache;
pub use times::{Busy, DeviceTimes};

#[cfg(not(target_arch = "wasm32"))]
pub use crate::batch::gpu_available;
pub use crate::batch::{
    BatchResult, BatchStats, DecompressResult, GpuBatchCompressor, GpuBatchConfig,
    GpuPoolCompressor, SelectedBackend, gpu_available_async, select_backend,
};
pub use crate::tensor::{
    BackendUsed, BufferId, GpuBackend, GpuCommandBatch, GpuMatmulCache, GpuTensor, MaxOp,
    MemoryLayout, MinOp, PartitionView, QkvLoRA, ReduceOp, SumOp, TILE_SIZE, TensorView, TileInfo,
    WeightLayout, WgslForwardPass, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
    tiled_reduce_partial, tiled_sum_2d,
};
