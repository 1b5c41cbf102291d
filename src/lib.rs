//! Pagepress compresses and decompresses memory pages and files as standard LZ4, on any GPU and without one.

pub mod batch;
#[cfg(gpu_engine)]
pub mod gpu {
    //! GPU devices and the interface that runs kernels on them, with the types of [`batch`](crate::batch) and
    //! [`tensor`](crate::tensor) that work on a device.
    //!
    //! [`Backend`] is the interface: compile WGSL, allocate, record launches and copies, submit, wait. Each engine
    //! implements it ([`wgpu`] on every target, `cuda` natively). [`GpuDevice`] is an enum over the engines and implements it
    //! too. Calls are asynchronous; natively the same names without `_async` block.
    //!
    //! [`GpuDevice::from_wgpu`] and [`Buffer::from_wgpu`] take a device and buffers that a program opened with wgpu itself.
    //! Batches of pages are documented in [`batch`](crate::batch), tensors and their operations in [`tensor`](crate::tensor).

    mod backend;
    pub(crate) mod batch_sizes;
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
    #[cfg(not(target_arch = "wasm32"))]
    pub use detect::gpu_available;
    pub use detect::gpu_available_async;
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

    // The documents' names for items of the modules above. `src/gpu/` itself imports neither module.
    pub use crate::batch::{
        BatchResult, BatchStats, DecompressResult, GpuBatchCompressor, GpuBatchConfig,
        GpuPoolCompressor,
    };
    pub use crate::engine::{BackendUsed, SelectedBackend, select_backend};
    pub use crate::tensor::{
        BufferId, GpuBackend, GpuCommandBatch, GpuMatmulCache, GpuTensor, MaxOp, MemoryLayout,
        MinOp, PartitionView, QkvLoRA, ReduceOp, SumOp, TILE_SIZE, TensorView, TileInfo,
        WeightLayout, WgslForwardPass, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
        tiled_reduce_partial, tiled_sum_2d,
    };
}
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
mod engine;
mod error;
#[cfg(any(web_pages, web_tensor))]
mod js_bytes;
mod memory;
mod ops;
#[cfg(gpu_engine)]
mod signal;
#[cfg(web)]
mod web;
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
mod wgsl;

/// Internals that the tests, benchmarks and fuzz targets of this repository reach. No part of the API: anything here may change
/// in any version.
#[cfg(gpu_engine)]
#[doc(hidden)]
pub mod internals {
    pub use crate::kernels::job::Job;

    /// Jobs of the codec.
    pub mod lz4 {
        pub use crate::kernels::lz4::{compress_job, decompress_job};
    }

    /// Jobs of tensor operations.
    pub mod tensor {
        pub use crate::kernels::tensor::{
            AttentionSize, Convolution, CopyAxis, Elementwise, Heads, Matrix, Product,
            QuantizedProduct, Rotary, SoftmaxLimits, Source, Strided, attention_job,
            convolve2d_job, copy_job, elementwise_job, matmul_job, matmul_naive_job,
            matmul_quantized_job, norm_job, reduce_columns_job, reduce_rows_job, rotary_job,
            softmax_job,
        };
    }
}

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
#[cfg(gpu_engine)]
pub use gpu::detect::GpuBackend;
/// The version of wgpu whose types this crate takes and gives.
#[cfg(feature = "wgpu")]
pub use wgpu;
