//! Results and statistics of [`GpuBatchCompressor`](crate::batch::GpuBatchCompressor).

use crate::batch::PAGE_SIZE;
use crate::batch::timing::Timings;
use crate::lz4::{BlockError, PackedPages};
use crate::{Error, Result};

/// Compressed pages with measured times. Copies and kernels are timed by the device; 0 stands for a time that the device
/// cannot measure, for which [`timings`](Self::timings) has `None`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BatchResult {
    /// The compressed pages.
    pub pages: PackedPages,
    /// Time of host-to-device copies, in nanoseconds; see [`Timings::upload_ns`].
    pub h2d_time_ns: u64,
    /// Time of the kernels by the device's clock, in nanoseconds; see [`Timings::kernel_ns`].
    pub kernel_time_ns: u64,
    /// Time of device-to-host copies, in nanoseconds; see [`Timings::readback_ns`].
    pub d2h_time_ns: u64,
    /// Wall time of the call, in nanoseconds.
    pub total_time_ns: u64,
    /// Engine that ran the batch: `"cuda"` or `"wgpu"`.
    pub backend: &'static str,
    /// The same times, with `None` where the device has no measurement.
    pub timings: Timings,
}

impl BatchResult {
    /// Returns `input_bytes` divided by the total time.
    #[must_use]
    pub fn throughput_bytes_per_sec(&self, input_bytes: usize) -> f64 {
        input_bytes as f64 * 1e9 / (self.total_time_ns.max(1) as f64)
    }

    /// Returns the bytes of the pages divided by the bytes of blocks and table.
    #[must_use]
    pub fn compression_ratio(&self) -> f64 {
        self.pages.ratio()
    }

    /// Returns the number of pages that are equal to an earlier page of the batch; see [`PackedPages::n_identical_pages`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; others only if [`pages`](Self::pages) was changed.
    pub fn n_identical_pages(&self) -> Result<usize> {
        self.pages.n_identical_pages()
    }

    /// Returns true if the kernels take more than five times as long as the device's copies, overlapped or not (the "PCIe 5x
    /// rule"). A fast kernel never satisfies it; the choice of a backend rests on measurement instead. Returns false if a
    /// time was not measured.
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

/// Decompressed pages. A corrupt page is all zeros and has its error at its index; the other pages are intact.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DecompressResult {
    /// The pages.
    pub pages: Vec<[u8; PAGE_SIZE]>,
    /// The error of each page; `None` for a valid page.
    pub errors: Vec<Option<BlockError>>,
    /// Times of the call.
    pub timings: Timings,
}

impl DecompressResult {
    /// Returns the pages if all are valid.
    ///
    /// # Errors
    /// [`Error::CorruptPage`] for the first invalid page.
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

/// Counters of a compressor since its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BatchStats {
    /// Pages compressed.
    pub pages_compressed: u64,
    /// Compressed bytes, tables included.
    pub bytes_compressed: u64,
    /// Wall time of compression, in nanoseconds.
    pub compress_ns: u64,
    /// Pages decompressed.
    pub pages_decompressed: u64,
    /// Wall time of decompression, in nanoseconds.
    pub decompress_ns: u64,
    /// Number of device losses that were recovered.
    pub n_devices_lost: u64,
    /// CPU time per page, measured on the first 1,024 pages of the first batch, in nanoseconds; 0 before it.
    pub cpu_ns_per_page: u64,
}
