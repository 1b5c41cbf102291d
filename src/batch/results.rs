//! What [`GpuBatchCompressor`](super::GpuBatchCompressor) gives back.

use super::PAGE_SIZE;
use super::timing::Timings;
use crate::lz4::{BlockError, PackedPages};
use crate::{Error, Result};

/// Compressed pages and where the time went. Times are measured, copies and kernels by the device; 0 stands for what
/// this device cannot measure, which [`timings`](Self::timings) gives as `None`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BatchResult {
    /// The compressed pages.
    pub pages: PackedPages,
    /// The device's copies from the host; see [`Timings::upload_ns`].
    pub h2d_time_ns: u64,
    /// The kernels, by the device's clock; see [`Timings::kernel_ns`].
    pub kernel_time_ns: u64,
    /// The device's copies to the host; see [`Timings::readback_ns`].
    pub d2h_time_ns: u64,
    /// From call to result, by the host's clock.
    pub total_time_ns: u64,
    /// The engine: `"cuda"` or `"wgpu"`.
    pub backend: &'static str,
    /// The same times, with `None` where there is no measurement.
    pub timings: Timings,
}

impl BatchResult {
    /// `input_bytes` over the total time.
    #[must_use]
    pub fn throughput_bytes_per_sec(&self, input_bytes: usize) -> f64 {
        input_bytes as f64 * 1e9 / (self.total_time_ns.max(1) as f64)
    }

    /// Bytes of pages over bytes of blocks and table.
    #[must_use]
    pub fn compression_ratio(&self) -> f64 {
        self.pages.ratio()
    }

    /// The documents' rule: the kernels take more than five times as long as the device's copies, overlapped or not. A
    /// fast kernel never satisfies it; the choice of a backend rests on measurement instead. `false` when something was
    /// not measured.
    #[must_use]
    pub fn pcie_rule_satisfied(&self) -> bool {
        let Timings {
            upload_ns: Some(up),
            kernel_ns: Some(kernel),
            readback_ns: Some(down),
            ..
        } = self.timings
        else {
            return false;
        };
        kernel > 5 * (up + down)
    }
}

/// Decompressed pages; a corrupt page is all zeros, has its error at its place, and leaves the others intact.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DecompressResult {
    /// The pages.
    pub pages: Vec<[u8; PAGE_SIZE]>,
    /// Of each page, what is wrong with it.
    pub errors: Vec<Option<BlockError>>,
    /// Where the time went.
    pub timings: Timings,
}

impl DecompressResult {
    /// The pages, if all are good.
    ///
    /// # Errors
    /// [`Error::CorruptPage`] for the first one that is not.
    pub fn into_pages(self) -> Result<Vec<[u8; PAGE_SIZE]>> {
        match self
            .errors
            .iter()
            .enumerate()
            .find_map(|(page, error)| Some((page, (*error)?)))
        {
            Some((page, source)) => Err(Error::CorruptPage { page, source }),
            None => Ok(self.pages),
        }
    }
}

/// What a compressor did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BatchStats {
    /// Pages compressed.
    pub pages_compressed: u64,
    /// Bytes they became, tables included.
    pub bytes_compressed: u64,
    /// Time that took, from calls to results.
    pub compress_ns: u64,
    /// Pages decompressed.
    pub pages_decompressed: u64,
    /// Time that took.
    pub decompress_ns: u64,
    /// Times the device was lost and brought back.
    pub n_devices_lost: u64,
    /// The CPU path's time for a page of the first batch, or of its first 1024; 0 before it.
    pub cpu_ns_per_page: u64,
}
