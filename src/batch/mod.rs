//! Pages in, pages out, on the best engine of the machine.
//!
//! [`Codec`] chooses among engines and does pages and frames; [`GpuBatchCompressor`] drives one GPU with batches of
//! 4 KiB pages and measures; the `_resident` functions work on pages that are in GPU memory already.

pub(crate) mod attempt;
#[cfg(feature = "wgpu")]
pub(crate) mod bytes;
mod choice;
pub(crate) mod codec;
#[cfg(feature = "wgpu")]
mod compress;
#[cfg(feature = "wgpu")]
mod compressor;
#[cfg(feature = "wgpu")]
mod decompress;
mod frames;
#[cfg(feature = "wgpu")]
mod gpu_codec;
#[cfg(feature = "wgpu")]
mod gpu_frames;
#[cfg(feature = "wgpu")]
mod job;
#[cfg(feature = "wgpu")]
mod plan;
#[cfg(feature = "wgpu")]
mod recover;
#[cfg(feature = "wgpu")]
mod resident;
#[cfg(feature = "wgpu")]
mod ring;
#[cfg(feature = "wgpu")]
mod select;
#[cfg(feature = "wgpu")]
pub(crate) mod sink;
#[cfg(feature = "wgpu")]
mod status;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
mod timing;

pub use choice::{BackendChoice, BackendRequest, PowerPreference, Rejected};
pub use codec::{Codec, CodecOptions, Report};
#[cfg(feature = "wgpu")]
pub use compressor::{
    BatchResult, BatchStats, DecompressResult, GpuBatchCompressor, GpuBatchConfig,
};
pub use frames::Progress;
#[cfg(feature = "wgpu")]
pub use resident::{
    ResidentOutcome, ResidentPages, ResidentPart, compress_resident_async,
    decompress_resident_async,
};
#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
pub use select::gpu_available;
#[cfg(feature = "wgpu")]
pub use select::{SelectedBackend, gpu_available_async, select_backend};
pub use timing::Timings;

use crate::lz4::Level;

/// Bytes of a memory page.
pub const PAGE_SIZE: usize = 4096;

/// A way to compress pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// LZ4, fast: a greedy parse.
    #[default]
    Lz4,
    /// LZ4, smaller: a lazy parse over a larger table.
    Lz4High,
}

impl Algorithm {
    /// The level of the encoder.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::Lz4 => Level::Fast,
            Self::Lz4High => Level::High,
        }
    }
}

/// Runs a future of a codec to its end on this thread. Without a GPU engine none ever waits.
#[cfg(not(target_arch = "wasm32"))]
fn block_on<T>(future: impl Future<Output = crate::Result<T>>) -> crate::Result<T> {
    #[cfg(feature = "wgpu")]
    {
        crate::gpu::runtime::block_on(future)
    }
    #[cfg(not(feature = "wgpu"))]
    {
        use std::task::{Context, Poll, Waker};
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => Err(crate::Error::Engine {
                engine: "cpu",
                message: "a future of the CPU engine waits".into(),
            }),
        }
    }
}
