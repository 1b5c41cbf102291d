//! Compresses and decompresses files and memory pages as standard LZ4, on any GPU and on the CPU without one.
//!
//! [`batch::Codec`] selects the fastest engine and compresses frames (`.lz4` files) and batches of pages. [`lz4`] is
//! the CPU implementation of the format. [`tensor`] runs operations on `f32` tensors, and [`gpu`] runs custom kernels,
//! written in WGSL, on the same engines.
//!
//! # Compress a frame
//! ```
//! use pagepress::batch::{Codec, CodecOptions};
//! use pagepress::lz4::frame::FrameOptions;
//!
//! let mut codec = Codec::new(CodecOptions::default())?;
//! let (lz4, report) = codec.compress_frame(b"pages, pages, pages", &FrameOptions::default())?;
//! println!("{} bytes by {}: {}", lz4.len(), report.engine, report.reason);
//! let (content, _) = codec.decompress_frame(&lz4, None)?;
//! assert_eq!(content, b"pages, pages, pages");
//! # Ok::<(), pagepress::Error>(())
//! ```
//!
//! # Compress a stream
//! Memory stays bounded, however long the stream is. With the feature `futures-io` there are asynchronous forms.
//! ```
//! # #[cfg(not(target_arch = "wasm32"))]
//! # fn main() -> std::io::Result<()> {
//! use std::io::{Read, Write};
//!
//! use pagepress::batch::{Codec, CodecOptions, CompressWriter, DecompressReader};
//! use pagepress::lz4::frame::FrameOptions;
//!
//! let codec = Codec::new(CodecOptions::default())?;
//! let mut writer = CompressWriter::new(Vec::new(), codec, &FrameOptions::default())?;
//! writer.write_all(b"pages, ")?;
//! writer.write_all(b"pages, pages")?;
//! let (lz4, _report) = writer.finish()?;
//!
//! let codec = Codec::new(CodecOptions::default())?;
//! let mut content = String::new();
//! DecompressReader::new(lz4.as_slice(), codec, None).read_to_string(&mut content)?;
//! assert_eq!(content, "pages, pages, pages");
//! # Ok(())
//! # }
//! # #[cfg(target_arch = "wasm32")]
//! # fn main() {}
//! ```
//!
//! # Compress a batch of pages on a GPU
//! ```no_run
//! # #[cfg(any(feature = "wgpu", feature = "cuda"))]
//! # fn main() -> pagepress::Result<()> {
//! use pagepress::PAGE_SIZE;
//! use pagepress::gpu::{GpuBatchCompressor, GpuBatchConfig};
//!
//! let pages = vec![[7; PAGE_SIZE]; 10_000];
//! let mut compressor = GpuBatchCompressor::new(GpuBatchConfig::default())?;
//! let result = compressor.compress_batch(&pages)?;
//! println!("{:.2}, kernels took {} ns", result.compression_ratio(), result.kernel_time_ns);
//! # Ok(())
//! # }
//! # #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
//! # fn main() {}
//! ```
//!
//! # Run a custom kernel
//! ```no_run
//! # #[cfg(any(feature = "wgpu", feature = "cuda"))]
//! # fn main() -> pagepress::Result<()> {
//! use pagepress::gpu::runtime::block_on;
//! use pagepress::gpu::{Backend, GpuDevice, KernelArg, KernelSource, Waitable};
//! use pagepress::kernels::Access;
//!
//! const WGSL: &str = "
//!     @group(0) @binding(0) var<storage, read_write> words: array<u32>;
//!     @compute @workgroup_size(64)
//!     fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         if id.x < arrayLength(&words) { words[id.x] *= 2u; }
//!     }";
//!
//! let device = GpuDevice::new()?;
//! let bytes = block_on(async {
//!     let source = KernelSource::new(WGSL, "double", &[Access::ReadWrite]);
//!     let kernel = device.compile_kernel(&source).await?;
//!     let words = device.allocate_memory(256)?;
//!     device.upload_async(&words, 0, &[1; 256]).await?;
//!     device.launch_kernel(&kernel, [1, 1, 1], &[KernelArg::Buffer(&words)])?.wait_async().await?;
//!     device.download_async(&words, 0..256).await
//! })?;
//! assert_eq!(bytes, [2; 256]);
//! # Ok(())
//! # }
//! # #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
//! # fn main() {}
//! ```
//!
//! # Compute with tensors
//! ```no_run
//! # #[cfg(any(feature = "wgpu", feature = "cuda"))]
//! # fn main() -> pagepress::Result<()> {
//! use pagepress::gpu::GpuDevice;
//! use pagepress::gpu::runtime::block_on;
//! use pagepress::tensor::{GpuTensor, Shape};
//!
//! let device = GpuDevice::new()?;
//! let probabilities = block_on(async {
//!     let a = GpuTensor::from_slice_async(&device, &[1.0, 2.0, 3.0, 4.0], Shape::new(&[2, 2])?).await?;
//!     let scores = a.matmul_async(&a.transpose(0, 1)?).await?; // stays in GPU memory
//!     scores.softmax_async().await?.to_vec_async().await
//! })?;
//! assert_eq!(probabilities.len(), 4);
//! # Ok(())
//! # }
//! # #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
//! # fn main() {}
//! ```
//!
//! # Features
//! | feature | |
//! |---|---|
//! | `wgpu` (default) | GPUs through Vulkan, Metal, DX12, and WebGPU on wasm32; `gpu` is another name |
//! | `cuda` | NVIDIA GPUs through CUDA on native targets; needs NVIDIA's driver at run time, nothing at build time |
//! | `futures-io` | asynchronous readers and writers |
//! | `gpu-wasm` | classes for JavaScript on wasm32, by wasm-bindgen; `web-cuda-c`, `web-files`, `web-formats`, `web-gpu`, `web-seek`, `web-snapshot` and `web-tensor` are its parts |
//!
//! Without features, the CPU codec and the tensor operations on the CPU are available.
//!
//! # Engines
//! An engine runs the work: the CPU (all cores, AVX-512, AVX2, NEON or WebAssembly SIMD), wgpu, or CUDA.
//! [`BackendRequest::Auto`](batch::BackendRequest::Auto) selects a hardware GPU where it is measured to be faster, and never a
//! software adapter; a backend requested by name that is not available is an error. Every result names the engine and the
//! reason. Every engine reads all LZ4 blocks; the levels [`Fast`](lz4::Level::Fast) and [`High`](lz4::Level::High)
//! produce the same bytes on every engine, [`Sequential`](lz4::Level::Sequential) is available on the CPU only.
//!
//! Functions whose name ends in `_async` exist on all targets; native targets also have blocking forms without the
//! suffix.
//!
//! # Errors
//! Every failure is an [`Error`] with fields for the values involved and a stable [`code`](Error::code): corrupt input, short
//! memory, a lost device, an argument outside its domain. No call panics, whatever its input.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    docsrs,
    doc(auto_cfg(hide(
        gpu_engine,
        cuda_engine,
        web,
        web_files,
        web_formats,
        web_pages,
        web_tensor,
        web_engine
    )))
)]

pub mod batch;
#[cfg(gpu_engine)]
#[cfg_attr(docsrs, doc(cfg(any(feature = "wgpu", feature = "cuda"))))]
pub mod gpu {
    //! GPU devices and the interface that runs kernels on them, with the types of [`batch`](crate::batch) and
    //! [`tensor`](crate::tensor) that work on a device.
    //!
    //! [`Backend`] is the interface: compile WGSL, allocate, record launches and copies, submit, wait. Each engine
    //! implements it ([`wgpu`] on every target, `cuda` natively). [`GpuDevice`] is an enum over the engines and implements it
    //! too. Calls are asynchronous; natively the same names without `_async` block.
    //!
    //! [`GpuDevice::from_wgpu`] and [`Buffer::from_wgpu`] wrap a device and buffers that a program created with wgpu
    //! itself.
    //! Batches of pages are documented in [`batch`](crate::batch), tensors and their operations in [`tensor`](crate::tensor).

    mod backend;
    pub(crate) mod batch_sizes;
    mod budget;
    mod check;
    mod choice;
    #[cfg(cuda_engine)]
    pub mod cuda;
    #[cfg(feature = "cuda-c")]
    mod cuda_c;
    pub(crate) mod detect;
    mod device;
    mod device_pool;
    mod engine;
    mod handles;
    mod host_use;
    mod id;
    mod info;
    mod open;
    #[cfg(feature = "fault-injection")]
    mod open_faults;
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
        SharedMemory, SpirvPassthrough,
    };
    #[cfg(feature = "cuda-c")]
    #[cfg_attr(docsrs, doc(cfg(feature = "cuda-c")))]
    pub use cuda_c::{
        CudaArg, CudaKernel, CudaOptions, KernelSignature, compile_cuda, cuda_kernels,
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
    pub use open_faults::fail_opening;
    pub use pipeline_cache::PipelineCache;
    pub use times::{Busy, DeviceTimes};

    // Names of the documentation for items of the modules above. `src/gpu/` itself imports neither module.
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
#[cfg_attr(docsrs, doc(cfg(any(feature = "wgpu", feature = "cuda"))))]
pub mod kernels;
pub mod lz4;
#[cfg(cuda_engine)]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
pub mod ptx;
pub mod snapshot;
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
#[cfg(web)]
mod web;

/// Internals for the tests, benchmarks and fuzz targets of this repository. Not part of the API: anything here may
/// change in any version.
#[cfg(gpu_engine)]
#[doc(hidden)]
pub mod internals {
    use crate::gpu::{Backend, GpuDevice};
    pub use crate::kernels::job::Job;
    pub use crate::kernels::limits::{Limits, Registers};

    /// Returns the limits of a device that jobs depend on.
    pub fn limits_of(device: &GpuDevice) -> Limits {
        device.capabilities().limits()
    }

    /// Jobs of the codec.
    pub mod lz4 {
        #[cfg(not(target_arch = "wasm32"))]
        pub use crate::kernels::chunks::{
            compress_chunks_job, copy_pieces_job, decompress_chunks_job, max_chunks_per_job,
        };
        pub use crate::kernels::dictionary::dictionary_words;
        pub use crate::kernels::lz4::{compress_job, decompress_job};
    }

    /// Jobs of tensor operations.
    pub mod tensor {
        pub use crate::kernels::tensor::{
            AttentionSize, Cast, Convolution, CopyAxis, Elementwise, Heads, Matrix, Product,
            QuantizedProduct, Rotary, Source, Strided, attention_decode_job, attention_job,
            cast_job, convolve2d_job, copy_job, elementwise_job, epilogue_job, matmul_epilogue_job,
            matmul_job, matmul_naive_job, matmul_quantized_job, norm_job, reduce_columns_job,
            reduce_rows_job, rotary_job, softmax_job,
        };
        #[cfg(not(target_arch = "wasm32"))]
        pub use crate::kernels::tensor::{
            MatrixUnits, attention_half_job, matmul_half_job, matmul_tf32_job, unpack_job,
        };
    }
}

pub use batch::{Algorithm, PAGE_SIZE};
pub use error::{Error, Result};
#[cfg(gpu_engine)]
pub use gpu::detect::GpuBackend;
/// The version of wgpu whose types this crate's API uses.
#[cfg(feature = "wgpu")]
pub use wgpu;

/// Runs the examples of the documentation as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[cfg(gpu_engine)]
    #[doc = include_str!("../docs/rust.md")]
    struct Rust;
}
