//! The documents' quick answer to which backend suits a batch.

use super::compressor::BENEFIT_PAGES;
use crate::gpu::GpuDevice;

/// A backend for a batch of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelectedBackend {
    /// The GPU.
    Gpu,
    /// The CPU: there is no hardware GPU.
    CpuNoGpu,
    /// The CPU: the batch is too small for its transfers to pay off.
    CpuSmallBatch,
}

impl SelectedBackend {
    /// Why.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Gpu => "the batch is large enough for a GPU, and there is one",
            Self::CpuNoGpu => "there is no hardware GPU",
            Self::CpuSmallBatch => "below 2000 pages the transfers cost more than a GPU saves",
        }
    }
}

/// A backend for batches of `batch_size` pages, before anything is measured. What is faster on this machine only
/// measurement tells: [`Codec`](super::Codec) in `Auto` mode and
/// [`would_benefit`](super::GpuBatchCompressor::would_benefit) rest on it.
#[must_use]
pub const fn select_backend(batch_size: usize, has_gpu: bool) -> SelectedBackend {
    match (has_gpu, batch_size >= BENEFIT_PAGES) {
        (false, _) => SelectedBackend::CpuNoGpu,
        (true, false) => SelectedBackend::CpuSmallBatch,
        (true, true) => SelectedBackend::Gpu,
    }
}

/// Whether there is a hardware GPU.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub fn gpu_available() -> bool {
    GpuDevice::is_available()
}

/// Whether there is a hardware GPU.
pub async fn gpu_available_async() -> bool {
    GpuDevice::is_available_async().await
}
