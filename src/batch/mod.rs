//! Batches of pages, and frames, on the fastest engine of the machine.
//!
//! [`Codec`] chooses the engine and handles pages and frames. [`GpuBatchCompressor`] runs batches of 4 KiB pages on one GPU
//! and reports measured times. The `_resident` functions work on pages that stay in GPU memory.

pub(crate) mod codec;
pub(crate) mod frame;
#[cfg(gpu_engine)]
pub(crate) mod pages;
#[cfg(gpu_engine)]
pub(crate) mod pipeline;
mod timing;
#[cfg(web_pages)]
pub(crate) mod web;

pub use codec::{Codec, CodecOptions, Report};
#[cfg(not(target_arch = "wasm32"))]
pub use frame::adapters::{CompressWriter, DecompressReader};
#[cfg(feature = "futures-io")]
pub use frame::async_adapters::{AsyncCompressWriter, AsyncDecompressReader};
pub use frame::frames::Progress;
pub use frame::session::{FrameCompression, FrameDecompression};
#[cfg(cuda_engine)]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
pub use pages::chunks::{CompressChunks, CopyPieces, CudaChunks, DecompressChunks};
#[cfg(gpu_engine)]
pub use pages::{
    compressor::{GpuBatchCompressor, GpuBatchConfig},
    pinned::PinnedPages,
    pooled::GpuPoolCompressor,
    resident::{
        ResidentOutcome, ResidentPages, ResidentPart, compress_resident_async,
        decompress_resident_async,
    },
    results::{BatchResult, BatchStats, DecompressResult},
};
#[cfg(gpu_engine)]
pub use pipeline::{dictionary::ResidentDictionary, sink::PinnedPart};
pub use timing::Timings;

pub use crate::engine::{BackendChoice, BackendRequest, PowerPreference, Rejected};
#[cfg(gpu_engine)]
pub use crate::engine::{SelectedBackend, select_backend};
#[cfg(all(gpu_engine, not(target_arch = "wasm32")))]
pub use crate::gpu::gpu_available;
#[cfg(gpu_engine)]
pub use crate::gpu::gpu_available_async;
use crate::lz4::Level;

/// Bytes of a memory page.
pub const PAGE_SIZE: usize = 4096;

/// A compression algorithm for pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// LZ4 at [`Level::Fast`]: a greedy parse.
    #[default]
    Lz4,
    /// LZ4 at [`Level::High`]: the ratio of C `lz4 -9`.
    Lz4High,
}

impl Algorithm {
    /// Returns the level of the encoder.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::Lz4 => Level::Fast,
            Self::Lz4High => Level::High,
        }
    }
}

/// Runs a future of a codec to completion on this thread. Without a GPU engine it never waits.
#[cfg(not(target_arch = "wasm32"))]
fn block_on<T>(future: impl Future<Output = crate::Result<T>>) -> crate::Result<T> {
    #[cfg(gpu_engine)]
    {
        crate::gpu::runtime::block_on(future)
    }
    #[cfg(not(gpu_engine))]
    {
        use std::task::{Context, Poll, Waker};
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => Err(crate::Error::Engine {
                engine: crate::engine::CPU,
                message: "a future of the CPU engine waits".into(),
            }),
        }
    }
}
