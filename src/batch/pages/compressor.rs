//! [`GpuBatchCompressor`]: batches of 4 KiB pages on one GPU, with measured times.

use super::results::{BatchResult, BatchStats, DecompressResult};
use crate::batch::pipeline::decompress::Target;
use crate::batch::pipeline::plan::{Form, Packed};
use crate::batch::pipeline::ring::Pipeline;
use crate::batch::pipeline::sink::Sink;
use crate::batch::pipeline::source::Source;
use crate::batch::timing::Timings;
use crate::batch::{Algorithm, PAGE_SIZE};
use crate::clock::Clock;
use crate::cost::Samples;
use crate::engine::BENEFIT_PAGES;
use crate::gpu::{Backend, GpuDevice, GpuDeviceInfo};
use crate::lz4::{BlockError, Dictionary, PackedPages};
use crate::{Error, Result, memory};

/// Configuration of a [`GpuBatchCompressor`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuBatchConfig {
    /// Index of the GPU in [`GpuDevice::list_adapters_async`]; 0 is the best one.
    pub device_index: u32,
    /// Compression algorithm.
    pub algorithm: Algorithm,
    /// Maximum pages in one job on the device; larger batches are split.
    pub batch_size: usize,
    /// Overlaps upload, kernels and readback of successive jobs. If false, each step waits for the one before and is
    /// timed alone.
    pub async_dma: bool,
    /// Number of jobs in flight when they overlap, each with its own staging buffers.
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
    pub(in crate::batch) fn check(&self) -> Result<()> {
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

/// Limit of jobs in flight; a few keep any device busy.
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
    dictionary: Option<Dictionary>,
    stats: BatchStats,
    /// Compression times by number of pages, on this GPU and on the CPU.
    gpu_times: Samples,
    cpu_times: Samples,
    /// True after the first batch, which compiles kernels and allocates buffers.
    is_warm: bool,
}

/// Numbers of pages of the first batch on which the CPU and the GPU are timed: a small one, which shows the fixed cost of
/// a batch, and a large one.
const SAMPLE_PAGES: [usize; 2] = [16, 1024];

impl GpuBatchCompressor {
    /// Opens the GPU at `config.device_index`.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] if there is no such GPU or it is a software adapter (pass such a device to
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

    /// Uses an open device, software adapters included; `config.device_index` is ignored.
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
            dictionary: None,
            stats: BatchStats::default(),
            gpu_times: Samples::default(),
            cpu_times: Samples::default(),
            is_warm: false,
        })
    }

    /// Uses a dictionary, which stands before each page, in all later calls.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Dictionary) -> Self {
        self.dictionary = Some(dictionary);
        self
    }

    pub(in crate::batch) const fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    /// Returns the form of pages that this compressor writes.
    pub(in crate::batch) const fn form<'a>(&self, dictionary: Option<&'a Dictionary>) -> Form<'a> {
        Form {
            page_size: PAGE_SIZE as u32,
            level: self.config.algorithm.level(),
            dictionary,
        }
    }

    /// Compresses pages. The result is the same on every engine and for every split into jobs. The first call also times
    /// the CPU, and the GPU if it is hardware, on up to 1,024 of the pages, for [`would_benefit`](Self::would_benefit).
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device is lost again after one recovery; [`Error::OutOfMemory`].
    pub async fn compress_batch_async(&mut self, pages: &[[u8; PAGE_SIZE]]) -> Result<BatchResult> {
        self.compress_batch_reusing_async(pages, PackedPages::default())
            .await
    }

    /// Compresses pages into the memory of an earlier result, whose contents are overwritten. First-touch page faults of
    /// new memory take about as long as the transfer over the bus.
    ///
    /// # Errors
    /// As [`compress_batch_async`](Self::compress_batch_async).
    pub async fn compress_batch_reusing_async(
        &mut self,
        pages: &[[u8; PAGE_SIZE]],
        mut packed: PackedPages,
    ) -> Result<BatchResult> {
        let bytes = pages.as_flattened();
        let dictionary = self.dictionary.clone();
        let form = self.form(dictionary.as_ref());
        let (source, sink) = (Source::Bytes(bytes), Sink::Packed(&mut packed));
        let timings = self.pipeline.compress_safely(source, form, sink).await?;
        self.stats.pages_compressed += pages.len() as u64;
        self.stats.bytes_compressed += packed.packed.len() as u64 + 8 * packed.table.len() as u64;
        self.stats.compress_ns += timings.total_ns;
        if self.is_warm {
            self.gpu_times.add(pages.len() as u64, timings.total_ns);
        } else if !pages.is_empty() {
            self.is_warm = true;
            self.compare(pages, form).await?;
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
    /// [`Error::InvalidArgument`] for other page sizes and for a table of another length; [`Error::DictionaryNeeded`] and
    /// [`Error::WrongDictionary`] for pages of another dictionary than this compressor's; otherwise as
    /// [`compress_batch_async`](Self::compress_batch_async). Corrupt pages are not an error of the call: see
    /// [`DecompressResult::errors`].
    pub async fn decompress_batch_async(
        &mut self,
        pages: &PackedPages,
    ) -> Result<DecompressResult> {
        let dictionary = self.dictionary.clone();
        let packed = checked_pages(pages, dictionary.as_ref())?;
        let mut out: Vec<[u8; PAGE_SIZE]> = memory::result_zeros(pages.table.len())?;
        let (errors, timings) = self.decompress_to(&packed, &mut out).await?;
        Ok(DecompressResult {
            pages: out,
            errors,
            timings,
        })
    }

    /// Decompresses pages into `out`, one page for each entry of the table, and returns the error of each page and the
    /// times of the call.
    ///
    /// # Errors
    /// As [`decompress_batch_async`](Self::decompress_batch_async), and [`Error::InvalidArgument`] if `out` is of another
    /// length.
    pub async fn decompress_batch_into_async(
        &mut self,
        pages: &PackedPages,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let dictionary = self.dictionary.clone();
        let packed = checked_pages(pages, dictionary.as_ref())?;
        if out.len() != pages.table.len() {
            let value = format!("{} for {} pages", out.len(), pages.table.len());
            return Err(Error::InvalidArgument {
                name: "out",
                value,
                expected: "give one element per page",
            });
        }
        self.decompress_to(&packed, out).await
    }

    /// Decompresses checked pages into a slice of as many.
    pub(in crate::batch) async fn decompress_to(
        &mut self,
        pages: &Packed<'_>,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        // SAFETY: the pipeline writes only initialised bytes to a target.
        let room = unsafe { memory::as_uninit(out.as_flattened_mut()) };
        let (errors, timings) = self
            .pipeline
            .decompress_safely(pages, Target::Bytes(room))
            .await?;
        self.stats.pages_decompressed += pages.table.len() as u64;
        self.stats.decompress_ns += timings.total_ns;
        Ok((errors, timings))
    }

    pub(in crate::batch) fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Times the CPU and the GPU on some pages of the first batch.
    async fn compare(&mut self, pages: &[[u8; PAGE_SIZE]], form: Form<'_>) -> Result<()> {
        for n_pages in SAMPLE_PAGES.map(|most| pages.len().min(most)) {
            let sample = pages[..n_pages].as_flattened();
            let clock = Clock::start();
            form.compress_on_cpu(sample, &mut PackedPages::default())?;
            let cpu_ns = clock.elapsed_ns();
            self.cpu_times.add(n_pages as u64, cpu_ns);
            self.stats.cpu_ns_per_page = (cpu_ns / n_pages as u64).max(1);
            // A software adapter never pays off.
            if !self.info().is_software() {
                let mut packed = PackedPages::default();
                let (source, sink) = (Source::Bytes(sample), Sink::Packed(&mut packed));
                let timings = self.pipeline.compress_safely(source, form, sink).await?;
                self.gpu_times.add(n_pages as u64, timings.total_ns);
            }
        }
        Ok(())
    }

    /// Returns the expected nanoseconds for `n_pages` on this GPU and on the CPU. Each is a fixed cost plus a cost per page,
    /// fitted by least squares of relative errors to the batches so far and, on hardware, to samples of the first one.
    /// `None` until both were measured.
    #[must_use]
    pub fn expected_ns(&self, n_pages: usize) -> Option<[u64; 2]> {
        let (gpu, cpu) = (self.gpu_times.cost()?, self.cpu_times.cost()?);
        Some([gpu, cpu].map(|cost| cost.ns(n_pages as f64) as u64))
    }

    /// Returns true if this GPU is expected to compress a batch of `n_pages` faster than the CPU: by
    /// [`expected_ns`](Self::expected_ns) or, before the first batch, from 2,000 pages on. False for software adapters.
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

    /// Returns the counters of this compressor.
    #[must_use]
    pub fn stats(&self) -> BatchStats {
        BatchStats {
            n_devices_lost: self.pipeline.n_devices_lost,
            ..self.stats
        }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &GpuBatchConfig {
        &self.config
    }

    /// Returns the description of the GPU.
    #[must_use]
    pub fn info(&self) -> &GpuDeviceInfo {
        self.pipeline.device().info()
    }

    /// Returns the device, to share with other work.
    #[must_use]
    pub fn device(&self) -> &GpuDevice {
        self.pipeline.device()
    }
}

/// Returns pages to decompress with this dictionary, or without one. Rejects those of other sizes or of another dictionary, and tables
/// of another length.
pub(in crate::batch) fn checked_pages<'a>(
    pages: &'a PackedPages,
    dictionary: Option<&'a Dictionary>,
) -> Result<Packed<'a>> {
    if pages.page_size as usize != PAGE_SIZE || !pages.n_bytes.is_multiple_of(PAGE_SIZE as u64) {
        let value = format!("{} bytes in pages of {}", pages.n_bytes, pages.page_size);
        return Err(Error::InvalidArgument {
            name: "pages",
            value,
            expected: "give whole pages of 4096 bytes",
        });
    }
    pages.checked_n_bytes(dictionary)?;
    Ok(Packed::new(pages, dictionary))
}

/// Blocking forms. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuBatchCompressor {
    /// Blocking form of [`new_async`](Self::new_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn new(config: GpuBatchConfig) -> Result<Self> {
        crate::gpu::runtime::block_on(Self::new_async(config))
    }

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

    /// Blocking form of [`compress_batch_reusing_async`](Self::compress_batch_reusing_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_batch_reusing(
        &mut self,
        pages: &[[u8; PAGE_SIZE]],
        packed: PackedPages,
    ) -> Result<BatchResult> {
        crate::gpu::runtime::block_on(self.compress_batch_reusing_async(pages, packed))
    }

    /// Blocking form of [`decompress_batch_into_async`](Self::decompress_batch_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_batch_into(
        &mut self,
        pages: &PackedPages,
        out: &mut [[u8; PAGE_SIZE]],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        crate::gpu::runtime::block_on(self.decompress_batch_into_async(pages, out))
    }
}
