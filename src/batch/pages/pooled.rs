//! [`GpuPoolCompressor`]: batches of 4 KiB pages spread over all GPUs of a pool.

use std::ops::Range;

use super::compressor::{GpuBatchCompressor, GpuBatchConfig, checked_pages};
use super::results::{BatchResult, DecompressResult};
use crate::Result;
use crate::batch::PAGE_SIZE;
use crate::batch::pipeline::plan::Packed;
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::copy::append;
use crate::gpu::spread::{parts, spread};
use crate::gpu::{Backend, GpuDevicePool};
use crate::lz4::{Dictionary, PackedPages};
use crate::memory;

/// Parts per device into which a batch is split. Devices take parts from one queue, so a faster one takes more.
const PARTS_PER_DEVICE: usize = 4;

/// Compresses and decompresses batches of pages on all GPUs of a [`GpuDevicePool`], to the same bytes as one GPU.
///
/// ```no_run
/// use pagepress::gpu::{GpuBatchConfig, GpuDevicePool};
/// let mut compressor = GpuDevicePool::new()?.compressor(GpuBatchConfig::default())?;
/// let pages = vec![[0; pagepress::PAGE_SIZE]; 100_000];
/// let result = compressor.compress_batch(&pages)?;
/// assert!(compressor.decompress_batch(&result.pages)?.into_pages()? == pages);
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuPoolCompressor {
    compressors: Vec<GpuBatchCompressor>,
    batch_size: usize,
    dictionary: Option<Dictionary>,
}

impl GpuDevicePool {
    /// Creates a compressor on all devices; `config.device_index` is ignored.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a zero in `config`.
    pub fn compressor(&self, config: GpuBatchConfig) -> Result<GpuPoolCompressor> {
        let batch_size = config.batch_size;
        let devices = self.devices().iter().cloned();
        let compressors =
            devices.map(|device| GpuBatchCompressor::with_device(device, config.clone()));
        Ok(GpuPoolCompressor {
            compressors: compressors.collect::<Result<_>>()?,
            batch_size,
            dictionary: None,
        })
    }
}

/// A part of the pages to decompress, with its destination.
struct Part<'a> {
    pages: Packed<'a>,
    out: &'a mut [[u8; PAGE_SIZE]],
}

impl GpuPoolCompressor {
    /// Uses a dictionary in all later calls, as [`GpuBatchCompressor::with_dictionary`] does.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Dictionary) -> Self {
        let compressors = self.compressors.into_iter();
        let with = |on: GpuBatchCompressor| on.with_dictionary(dictionary.clone());
        self.compressors = compressors.map(with).collect();
        self.dictionary = Some(dictionary);
        self
    }

    /// Returns the compressor of each device, for its counters.
    #[must_use]
    pub fn compressors(&self) -> &[GpuBatchCompressor] {
        &self.compressors
    }

    /// Splits pages into parts of whole jobs, several per device.
    fn parts(&self, n_pages: usize) -> Vec<Range<usize>> {
        let n_parts = PARTS_PER_DEVICE * self.compressors.len();
        parts(
            n_pages,
            n_parts,
            self.batch_size
                .min(n_pages.div_ceil(self.compressors.len())),
        )
    }

    /// Compresses pages. Times of copies and kernels are sums over devices; `total_time_ns` is wall time.
    ///
    /// # Errors
    /// As [`GpuBatchCompressor::compress_batch_async`]; a lost device is an error only if every device is lost.
    pub async fn compress_batch_async(&mut self, pages: &[[u8; PAGE_SIZE]]) -> Result<BatchResult> {
        let clock = Clock::start();
        let ranges = self.parts(pages.len());
        let work = async |on: &mut GpuBatchCompressor, range: &mut Range<usize>| {
            on.compress_batch_async(&pages[range.clone()]).await
        };
        let found = spread(&mut self.compressors, ranges, work).await?;
        let mut all = PackedPages {
            page_size: PAGE_SIZE as u32,
            n_bytes: pages.as_flattened().len() as u64,
            dictionary_id: self.dictionary.as_ref().map_or(0, Dictionary::id),
            ..PackedPages::default()
        };
        let n_packed = found.iter().map(|part| part.pages.packed.len()).sum();
        memory::reserve_result(&mut all.packed, n_packed)?;
        memory::reserve_exact(&mut all.table, pages.len())?;
        let mut timings = Timings::default();
        for part in &found {
            let start = all.packed.len() as u64;
            append(&mut all.packed, &part.pages.packed)?;
            let entries = part.pages.table.iter();
            all.table.extend(entries.map(|entry| entry.behind(start)));
            timings.add(&part.timings);
        }
        timings.total_ns = clock.elapsed_ns();
        Ok(BatchResult {
            pages: all,
            h2d_time_ns: timings.upload_ns.unwrap_or(0),
            kernel_time_ns: timings.kernel_ns.unwrap_or(0),
            d2h_time_ns: timings.readback_ns.unwrap_or(0),
            total_time_ns: timings.total_ns,
            backend: self.engine(),
            timings,
        })
    }

    /// Returns the engine of the first device.
    fn engine(&self) -> &'static str {
        let first = self.compressors.first();
        first.map_or("", |compressor| compressor.device().name())
    }

    /// Decompresses pages of [`PAGE_SIZE`] bytes. Times are summed as by
    /// [`compress_batch_async`](Self::compress_batch_async).
    ///
    /// # Errors
    /// As [`GpuBatchCompressor::decompress_batch_async`]; [`DeviceLost`](crate::Error::DeviceLost) if every device is lost.
    pub async fn decompress_batch_async(
        &mut self,
        pages: &PackedPages,
    ) -> Result<DecompressResult> {
        let dictionary = self.dictionary.clone();
        let packed = checked_pages(pages, dictionary.as_ref())?;
        let clock = Clock::start();
        let mut out: Vec<[u8; PAGE_SIZE]> = memory::result_zeros(pages.table.len())?;
        let mut rest = &mut out[..];
        let mut shares = Vec::new();
        for range in self.parts(pages.table.len()) {
            let (out, behind) = rest.split_at_mut(range.len());
            rest = behind;
            let pages = Packed {
                table: &pages.table[range.clone()],
                n_bytes: (range.len() * PAGE_SIZE) as u64,
                ..packed
            };
            shares.push(Part { pages, out });
        }
        let work = async |on: &mut GpuBatchCompressor, part: &mut Part<'_>| {
            on.decompress_to(&part.pages, part.out).await
        };
        let found = spread(&mut self.compressors, shares, work).await?;
        let mut errors = memory::with_room(out.len())?;
        let mut timings = Timings::default();
        for (of_part, times) in found {
            errors.extend(of_part);
            timings.add(&times);
        }
        timings.total_ns = clock.elapsed_ns();
        Ok(DecompressResult {
            pages: out,
            errors,
            timings,
        })
    }
}

/// Blocking forms. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuPoolCompressor {
    /// Blocking form of [`compress_batch_async`](Self::compress_batch_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_batch(&mut self, pages: &[[u8; PAGE_SIZE]]) -> Result<BatchResult> {
        crate::gpu::runtime::block_on(self.compress_batch_async(pages))
    }

    /// Blocking form of [`decompress_batch_async`](Self::decompress_batch_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_batch(&mut self, pages: &PackedPages) -> Result<DecompressResult> {
        crate::gpu::runtime::block_on(self.decompress_batch_async(pages))
    }
}
