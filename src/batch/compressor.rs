//! Batches of 4 KiB pages on one GPU, measured.

use super::compress::Sink;
use super::decompress::{self, Target};
use super::plan::Packed;
use super::results::{BatchResult, BatchStats, DecompressResult};
use super::ring::Pipeline;
use super::source::Source;
use super::timing::Timings;
use super::{Algorithm, PAGE_SIZE};
use crate::clock::Clock;
use crate::cost::Samples;
use crate::engine::BENEFIT_PAGES;
use crate::gpu::{Backend, GpuDevice, GpuDeviceInfo};
use crate::lz4::{BlockError, Level, PackedPages};
use crate::{Error, Result, memory};

/// How [`GpuBatchCompressor`] works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuBatchConfig {
    /// Index of the GPU in [`GpuDevice::list_adapters_async`]; 0 is the best one.
    pub device_index: u32,
    /// Compression algorithm.
    pub algorithm: Algorithm,
    /// Most pages in one job on the device; larger batches are cut.
    pub batch_size: usize,
    /// Upload, kernels and download of successive jobs overlap. Without it each step waits for the one before and is
    /// measured alone.
    pub async_dma: bool,
    /// Jobs in flight when they overlap, each with its own memory shared with the device.
    pub ring_buffer_slots: usize,
}

impl Default for GpuBatchConfig {
    fn default() -> Self {
        Self {
            device_index: 0,
            algorithm: Algorithm::Lz4,
            batch_size: 1000,
            async_dma: true,
            ring_buffer_slots: 4,
        }
    }
}

impl GpuBatchConfig {
    pub(super) fn check(&self) -> Result<()> {
        if self.batch_size == 0 {
            return Err(Error::invalid("batch_size", 0, "give at least 1"));
        }
        if !(1..=MAX_SLOTS).contains(&self.ring_buffer_slots) {
            let given = self.ring_buffer_slots as u64;
            return Err(Error::invalid("ring_buffer_slots", given, "give 1 to 1024"));
        }
        Ok(())
    }
}

/// Most jobs in flight; a few keep any device busy.
const MAX_SLOTS: usize = 1024;

/// Compresses and decompresses batches of pages on one GPU.
///
/// ```no_run
/// use pagepress::gpu::{GpuBatchCompressor, GpuBatchConfig, gpu_available};
/// use pagepress::PAGE_SIZE;
///
/// if gpu_available() {
///     let mut compressor = GpuBatchCompressor::new(GpuBatchConfig::default())?;
///     let pages: Vec<[u8; PAGE_SIZE]> = vec![[0u8; PAGE_SIZE]; 1000];
///     let result = compressor.compress_batch(&pages)?;
///     println!("Compression ratio: {:.2}x", result.compression_ratio());
/// }
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuBatchCompressor {
    config: GpuBatchConfig,
    pipeline: Pipeline,
    stats: BatchStats,
    /// Times of compression by pages, on this GPU and on the CPU.
    gpu_times: Samples,
    cpu_times: Samples,
    /// The first batch is over, which compiles kernels and allocates.
    is_warm: bool,
}

/// Pages of the first batch on which the CPU path and this GPU are timed: few, which tells the fixed cost of a batch,
/// and many.
const SAMPLE_PAGES: [usize; 2] = [16, 1024];

impl GpuBatchCompressor {
    /// Opens the GPU that `config` names.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] if it is not there or is a software adapter (give such a device to
    /// [`with_device`](Self::with_device)); [`Error::InvalidArgument`] for a zero in `config`.
    pub async fn new_async(config: GpuBatchConfig) -> Result<Self> {
        let device = GpuDevice::new_with_adapter_index_async(config.device_index as usize).await?;
        if device.info().is_software() {
            let reason = format!(
                "adapter {} is {}, no hardware GPU",
                config.device_index,
                device.info()
            );
            return Err(Error::BackendUnavailable {
                backend: "GPU",
                reason,
            });
        }
        Self::with_device(device, config)
    }

    /// Uses a device that is open already, a software one too; `device_index` is not looked at.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a zero in `config`.
    pub fn with_device(device: GpuDevice, config: GpuBatchConfig) -> Result<Self> {
        config.check()?;
        let pipeline = Pipeline::new(
            device,
            config.ring_buffer_slots,
            config.async_dma,
            config.batch_size as u64,
        );
        Ok(Self {
            config,
            pipeline,
            stats: BatchStats::default(),
            gpu_times: Samples::default(),
            cpu_times: Samples::default(),
            is_warm: false,
        })
    }

    /// Compresses pages. The result is the same on every engine, and however the batch is cut. The first call also
    /// times the CPU path, and a GPU that is hardware, on up to 1024 of the pages, for
    /// [`would_benefit`](Self::would_benefit).
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device is lost again after it was brought back once; [`Error::OutOfMemory`].
    pub async fn compress_batch_async(&mut self, pages: &[[u8; PAGE_SIZE]]) -> Result<BatchResult> {
        self.compress_batch_reusing_async(pages, PackedPages::default())
            .await
    }

    /// [`compress_batch_async`](Self::compress_batch_async) to the memory of an earlier result, whose contents are
    /// forgotten. Fresh memory costs the system about as much time as the bus.
    ///
    /// # Errors
    /// As there.
    pub async fn compress_batch_reusing_async(
        &mut self,
        pages: &[[u8; PAGE_SIZE]],
        mut packed: PackedPages,
    ) -> Result<BatchResult> {
        let bytes = pages.as_flattened();
        let level = self.config.algorithm.level();
        let timings = self
            .pipeline
            .compress_safely(
                Source::Bytes(bytes),
                PAGE_SIZE as u32,
                level,
                Sink::Packed(&mut packed),
            )
            .await?;
        self.stats.pages_compressed += pages.len() as u64;
        self.stats.bytes_compressed += packed.packed.len() as u64 + 8 * packed.table.len() as u64;
        self.stats.compress_ns += timings.total_ns;
        if self.is_warm {
            self.gpu_times.add(pages.len() as u64, timings.total_ns);
        } else if !pages.is_empty() {
            self.is_warm = true;
            self.compare(pages, level).await?;
        }
        Ok(BatchResult {
            pages: packed,
            h2d_time_ns: timings.upload_ns.unwrap_or(0),
            kernel_time_ns: timings.kernel_ns.unwrap_or(0),
            d2h_time_ns: timings.readback_ns.unwrap_or(0),
            total_time_ns: timings.total_ns,
            backend: self.pipeline.device().name(),
            timings,
        })
    }

    /// Decompresses pages of [`PAGE_SIZE`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other page sizes and for a table that does not fit; else as
    /// [`compress_batch_async`](Self::compress_batch_async). Corrupt pages are no error of the call.
    pub async fn decompress_batch_async(
        &mut self,
        pages: &PackedPages,
    ) -> Result<DecompressResult> {
        check_pages(pages)?;
        let mut out: Vec<[u8; PAGE_SIZE]> = memory::zeros(pages.table.len())?;
        let (errors, timings) = self.decompress_to(&pages.into(), &mut out).await?;
        Ok(DecompressResult {
            pages: out,
            errors,
            timings,
        })
    }

    /// [`decompress_batch_async`](Self::decompress_batch_async) to memory of the caller, one page for each entry of the
    /// table. Gives of each page what is wrong with it, and where the time went.
    ///
    /// # Errors
    /// As there, and [`Error::InvalidArgument`] if `out` is of another length.
    pub async fn decompress_batch_into_async(
        &mut self,
        pages: &PackedPages,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        check_pages(pages)?;
        if out.len() != pages.table.len() {
            let value = format!("{} for {} pages", out.len(), pages.table.len());
            return Err(Error::InvalidArgument {
                name: "out",
                value,
                expected: "give room for every page",
            });
        }
        self.decompress_to(&pages.into(), out).await
    }

    /// Decompresses pages that were checked, to as many.
    pub(super) async fn decompress_to(
        &mut self,
        pages: &Packed<'_>,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let (errors, timings) = self
            .pipeline
            .decompress_safely(pages, Target::Bytes(out.as_flattened_mut()))
            .await?;
        self.stats.pages_decompressed += pages.table.len() as u64;
        self.stats.decompress_ns += timings.total_ns;
        Ok((errors, timings))
    }

    pub(super) fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Times both engines on some of the pages of the first batch.
    async fn compare(&mut self, pages: &[[u8; PAGE_SIZE]], level: Level) -> Result<()> {
        for n_pages in SAMPLE_PAGES.map(|most| pages.len().min(most)) {
            let sample = pages[..n_pages].as_flattened();
            let clock = Clock::start();
            crate::lz4::compress_pages(sample, PAGE_SIZE as u32, level)?;
            let cpu_ns = clock.elapsed_ns();
            self.cpu_times.add(n_pages as u64, cpu_ns);
            self.stats.cpu_ns_per_page = (cpu_ns / n_pages as u64).max(1);
            // A software adapter is never worth its while.
            if !self.info().is_software() {
                let mut packed = PackedPages::default();
                let (source, sink) = (Source::Bytes(sample), Sink::Packed(&mut packed));
                let pipeline = &mut self.pipeline;
                let run = pipeline.compress_safely(source, PAGE_SIZE as u32, level, sink);
                let timings = run.await?;
                self.gpu_times.add(n_pages as u64, timings.total_ns);
            }
        }
        Ok(())
    }

    /// Nanoseconds that `n_pages` are expected to take: on this GPU, and on the CPU path. To each a fixed cost and a
    /// cost a page are fitted, by least squares of relative errors, over the sizes of the batches so far and of samples
    /// of the first one (on hardware). `None` until both were measured.
    #[must_use]
    pub fn expected_ns(&self, n_pages: usize) -> Option<[u64; 2]> {
        let (gpu, cpu) = (self.gpu_times.cost()?, self.cpu_times.cost()?);
        Some([gpu, cpu].map(|cost| cost.ns(n_pages as f64) as u64))
    }

    /// Whether this GPU is expected to compress a batch of `n_pages` faster than the CPU path: by
    /// [`expected_ns`](Self::expected_ns) or, before the first batch, if there are at least 2000 pages. Never for a
    /// software adapter.
    #[must_use]
    pub fn would_benefit(&self, n_pages: usize) -> bool {
        if n_pages == 0 || self.info().is_software() {
            return false;
        }
        match self.expected_ns(n_pages) {
            Some([gpu, cpu]) => gpu < cpu,
            None => n_pages >= BENEFIT_PAGES,
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> BatchStats {
        BatchStats {
            n_devices_lost: self.pipeline.n_devices_lost,
            ..self.stats
        }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &GpuBatchConfig {
        &self.config
    }

    /// The GPU.
    #[must_use]
    pub fn info(&self) -> &GpuDeviceInfo {
        self.pipeline.device().info()
    }

    /// The device, to share with other work.
    #[must_use]
    pub fn device(&self) -> &GpuDevice {
        self.pipeline.device()
    }
}

/// Refuses pages of other sizes, and tables that do not fit.
pub(super) fn check_pages(pages: &PackedPages) -> Result<()> {
    if pages.page_size as usize != PAGE_SIZE || !pages.n_bytes.is_multiple_of(PAGE_SIZE as u64) {
        let value = format!("{} bytes in pages of {}", pages.n_bytes, pages.page_size);
        return Err(Error::InvalidArgument {
            name: "pages",
            value,
            expected: "give whole pages of 4096 bytes",
        });
    }
    decompress::check(&pages.into()).map(drop)
}

/// The same, blocking. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuBatchCompressor {
    /// [`new_async`](Self::new_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn new(config: GpuBatchConfig) -> Result<Self> {
        crate::gpu::runtime::block_on(Self::new_async(config))
    }

    /// [`compress_batch_async`](Self::compress_batch_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn compress_batch(&mut self, pages: &[[u8; PAGE_SIZE]]) -> Result<BatchResult> {
        crate::gpu::runtime::block_on(self.compress_batch_async(pages))
    }

    /// [`decompress_batch_async`](Self::decompress_batch_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn decompress_batch(&mut self, pages: &PackedPages) -> Result<DecompressResult> {
        crate::gpu::runtime::block_on(self.decompress_batch_async(pages))
    }

    /// [`compress_batch_reusing_async`](Self::compress_batch_reusing_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn compress_batch_reusing(
        &mut self,
        pages: &[[u8; PAGE_SIZE]],
        packed: PackedPages,
    ) -> Result<BatchResult> {
        crate::gpu::runtime::block_on(self.compress_batch_reusing_async(pages, packed))
    }

    /// [`decompress_batch_into_async`](Self::decompress_batch_into_async), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn decompress_batch_into(
        &mut self,
        pages: &PackedPages,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        crate::gpu::runtime::block_on(self.decompress_batch_into_async(pages, out))
    }
}
