//! Zero-copy batches in pinned memory: the device transfers pages and blocks by DMA, and the host touches only the tables.
//! Throughput is then bound by the bus; staging copies from and to pageable memory take about as long as the bus.

use super::compressor::GpuBatchCompressor;
use crate::batch::pipeline::decompress::{self, Target};
use crate::batch::pipeline::plan::Packed;
use crate::batch::pipeline::sink::{PinnedPart, Sink};
use crate::batch::pipeline::source::Source;
use crate::batch::timing::Timings;
use crate::gpu::{HostBuffer, Sized64};
use crate::lz4::{BlockError, PageEntry};
use crate::{Error, PAGE_SIZE, Result};

/// Compressed pages in pinned buffers that the device wrote.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PinnedPages {
    /// Pages in order, one part per job.
    pub parts: Vec<PinnedPart>,
    /// Times of the call.
    pub timings: Timings,
}

impl PinnedPages {
    /// Returns the bytes of pages of [`PAGE_SIZE`] divided by the bytes of blocks and table, 8 bytes an entry; 1 for no
    /// pages.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let pages: usize = self.parts.iter().map(|part| part.table.len()).sum();
        let blocks: u64 = self.parts.iter().map(|part| part.packed_bytes).sum();
        if pages == 0 {
            return 1.0;
        }
        (pages * PAGE_SIZE) as f64 / (blocks + 8 * pages as u64) as f64
    }
}

impl GpuBatchCompressor {
    /// Compresses the first `n_pages` pages in `pages`, an [`HostUse::Upload`](crate::gpu::HostUse::Upload) buffer of
    /// [`device`](Self::device). Drop results early: their buffers return to the pool.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the buffer is shorter; [`Error::DeviceLost`], which invalidates the buffer too;
    /// [`Error::OutOfMemory`].
    pub async fn compress_pinned_async(
        &mut self,
        pages: &HostBuffer,
        n_pages: usize,
    ) -> Result<PinnedPages> {
        let n_bytes = (n_pages as u64).saturating_mul(PAGE_SIZE as u64);
        check_length("n_pages", n_bytes, pages)?;
        let dictionary = self.dictionary().cloned();
        let form = self.form(dictionary.as_ref());
        let mut parts = Vec::new();
        let source = Source::Pinned(pages, n_bytes);
        let mut sink = Sink::Pinned(&mut parts);
        let pipeline = self.pipeline();
        pipeline.begin();
        let compressed = pipeline.compress(source, form, &mut sink);
        let compressed = compressed.await;
        let timings = pipeline.end(compressed)?;
        Ok(PinnedPages { parts, timings })
    }

    /// Decompresses the blocks in the first `packed_bytes` of `packed`, an
    /// [`HostUse::Upload`](crate::gpu::HostUse::Upload) buffer of [`device`](Self::device), to the start of `out`, an
    /// [`HostUse::Download`](crate::gpu::HostUse::Download) buffer of the same device. Returns the error of each page; a
    /// corrupt page is all zeros. A block longer than any valid one counts as an invalid table entry.
    ///
    /// # Errors
    /// As [`compress_pinned_async`](Self::compress_pinned_async), and [`Error::InvalidArgument`] for blocks that are not
    /// stored in about the order of their pages.
    pub async fn decompress_pinned_async(
        &mut self,
        packed: &HostBuffer,
        packed_bytes: u64,
        table: &[PageEntry],
        out: &HostBuffer,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let n_bytes = (table.len() as u64).saturating_mul(PAGE_SIZE as u64);
        let rounded = packed_bytes.checked_next_multiple_of(4);
        check_length("packed_bytes", rounded.unwrap_or(u64::MAX), packed)?;
        check_length("table", n_bytes, out)?;
        let dictionary = self.dictionary().cloned();
        let pages = Packed {
            blocks: Source::Pinned(packed, packed_bytes),
            table,
            page_size: PAGE_SIZE as u32,
            n_bytes,
            dictionary: dictionary.as_ref(),
        };
        decompress::check(&pages)?;
        let mut target = Target::Pinned(out, PAGE_SIZE as u32);
        let pipeline = self.pipeline();
        pipeline.begin();
        let decompressed = pipeline.decompress(&pages, &mut target).await;
        pipeline.end(decompressed)
    }
}

fn check_length(name: &'static str, n_bytes: u64, buffer: &HostBuffer) -> Result<()> {
    if n_bytes <= buffer.n_bytes() {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name,
        value: format!("{n_bytes} bytes in a buffer of {}", buffer.n_bytes()),
        expected: "at most the size of the buffer",
    })
}
