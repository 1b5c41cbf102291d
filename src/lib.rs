//! Compresses and decompresses files and memory pages as standard LZ4, on any GPU and on the CPU without one.
//!
//! [`batch::Codec`] selects the fastest engine and compresses frames (`.lz4` files) and batches of pages.
//! [`lz4`] is the format on the CPU alone. [`tensor`] runs operations on `f32` tensors, and [`gpu`] runs kernels of your own,
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
//! # Run a kernel of your own
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
//! | `gpu-wasm` | classes for JavaScript on wasm32, by wasm-bindgen; `web-files`, `web-seek`, `web-gpu` and `web-tensor` are its parts |
//!
//! Without features the CPU codec and the CPU's tensor operations remain.
//!
//! # Engines
//! An engine runs the work: the CPU (all cores, AVX-512, AVX2, NEON or WebAssembly SIMD), wgpu, or CUDA.
//! [`BackendRequest::Auto`](batch::BackendRequest::Auto) selects a hardware GPU where it is measured to be faster, and never a
//! software adapter; a backend requested by name that is not available is an error. Every result names the engine and the
//! reason. Every engine reads all LZ4 blocks; the levels [`Fast`](lz4::Level::Fast) and [`High`](lz4::Level::High) give the same
//! bytes on every engine, [`Sequential`](lz4::Level::Sequential) is the CPU's.
//!
//! Functions whose name ends in `_async` exist everywhere; natively the same name without it blocks.
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
        web_pages,
        web_tensor,
        web_engine
    )))
)]

pub mod batch;
#[cfg(gpu_engine)]
#[cfg_attr(docsrs, doc(cfg(any(feature = "wgpu", feature = "cuda"))))]
pub mod gpu;
#[cfg(gpu_engine)]
#[cfg_attr(docsrs, doc(cfg(any(feature = "wgpu", feature = "cuda"))))]
pub mod kernels;
pub mod lz4;
#[cfg(cuda_engine)]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
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

/// Runs the code of the documents.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[cfg(gpu_engine)]
    #[doc = include_str!("../docs/rust.md")]
    struct Rust;
}
