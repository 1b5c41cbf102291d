//! [`select_backend`]: chooses by a fixed threshold, before anything is measured.

/// Number of 4 KiB pages from which a GPU is expected to be faster than the CPU, if nothing was measured.
pub(crate) const BENEFIT_PAGES: usize = 2000;

/// The backend for a batch of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelectedBackend {
    /// The GPU.
    Gpu,
    /// The CPU: there is no hardware GPU.
    CpuNoGpu,
    /// The CPU: the batch is too small to amortise its transfers.
    CpuSmallBatch,
}

impl SelectedBackend {
    /// Returns the reason for this backend.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Gpu => "the batch is large enough for a GPU, and there is one",
            Self::CpuNoGpu => "there is no hardware GPU",
            Self::CpuSmallBatch => "below 2000 pages the transfers cost more than a GPU saves",
        }
    }
}

/// Returns the backend for batches of `batch_size` pages of 4 KiB by a fixed threshold. Only a measurement shows which
/// engine is faster on this machine: `Codec` in `Auto` mode and `GpuBatchCompressor::would_benefit` measure.
#[must_use]
pub const fn select_backend(batch_size: usize, has_gpu: bool) -> SelectedBackend {
    match (has_gpu, batch_size >= BENEFIT_PAGES) {
        (false, _) => SelectedBackend::CpuNoGpu,
        (true, false) => SelectedBackend::CpuSmallBatch,
        (true, true) => SelectedBackend::Gpu,
    }
}
