//! The GPU engine of a codec, and the measurements by which `Auto` mode chooses between it and the CPU.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::MaybeUninit;

use super::CodecOptions;
use super::aside::aside;
use super::choose::Plan;
use crate::batch::pipeline::decompress::Target;
use crate::batch::pipeline::plan::{Form, Packed};
use crate::batch::pipeline::ring::Pipeline;
use crate::batch::pipeline::sink::Sink;
use crate::batch::pipeline::source::Source;
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::engine::{BackendChoice, Rejected};
use crate::gpu::{Backend, DeviceRequest, GpuDevice};
use crate::lz4::frame::{Checksum, FrameOptions};
use crate::lz4::{self, BlockError, Dictionary, Level, PackedPages, check_page_size};
use crate::memory::reserve_result;
use crate::{Error, Result};

/// Bytes of pages in one job on the device.
pub(in crate::batch) const JOB_BYTES: u64 = 32 << 20;
/// Jobs in flight.
pub(in crate::batch) const SLOTS: usize = 4;
/// Bytes of content that keep all slots of the ring in use.
pub(in crate::batch) const CHUNK_BYTES: usize = SLOTS * JOB_BYTES as usize;

/// Calls that the CPU is expected to finish within this time run there: measuring would cost more.
const WORTH_MEASURING_NS: u64 = 30_000_000;
/// Bytes of the call's input on which the CPU is timed first.
const FIRST_SAMPLE_BYTES: usize = 512 << 10;
/// Maximum bytes of the call's input on which both engines are timed.
const SAMPLE_BYTES: usize = 16 << 20;

/// The GPU engine of a codec.
#[derive(Debug)]
pub(in crate::batch) struct GpuCodec {
    pipeline: Pipeline,
    page_size: u32,
    verdicts: HashMap<Case, Verdict>,
}

/// The kind of call that a measurement applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Case {
    compress: bool,
    page_size: u32,
    level: Option<Level>,
    has_dictionary: bool,
    /// Base-2 logarithm of the bytes.
    size: u32,
}

/// Times of both engines for the same work.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    n_bytes: u64,
    gpu_ns: u64,
    cpu_ns: u64,
}

impl Verdict {
    fn plan(self) -> Plan {
        // Integers: formatting floats adds 20 kB to a WebAssembly module.
        let speed = |ns: u64| self.n_bytes * 1000 / ns.max(1);
        let (gpu, cpu) = (speed(self.gpu_ns), speed(self.cpu_ns));
        if self.gpu_ns < self.cpu_ns {
            Plan::Gpu(format!(
                "measured faster here: GPU {gpu} MB/s, CPU {cpu} MB/s"
            ))
        } else {
            Plan::Cpu(format!(
                "measured faster here: CPU {cpu} MB/s, GPU {gpu} MB/s"
            ))
        }
    }
}

/// Lists each adapter with the reason for its rejection, after opening failed with `error`.
pub(in crate::batch) async fn rejected_async(error: &Error) -> Vec<Rejected> {
    let adapters = GpuDevice::list_adapters_async().await;
    if adapters.is_empty() && no_cuda().is_none() {
        return vec![Rejected {
            candidate: "GPU".into(),
            reason: error.to_string(),
        }];
    }
    let reason = |software: bool| {
        if software {
            "software adapter".to_owned()
        } else {
            error.to_string()
        }
    };
    let rejected = adapters.iter().map(|adapter| Rejected {
        candidate: adapter.to_string(),
        reason: reason(adapter.is_software()),
    });
    rejected.chain(no_cuda()).collect()
}

/// Returns CUDA as a rejected candidate where its driver lists no device.
#[cfg(cuda_engine)]
fn no_cuda() -> Option<Rejected> {
    use crate::engine::CUDA;
    let error = crate::gpu::cuda::list().err()?;
    Some(Rejected {
        candidate: CUDA.into(),
        reason: error.to_string(),
    })
}

#[cfg(not(cuda_engine))]
fn no_cuda() -> Option<Rejected> {
    None
}

impl GpuCodec {
    pub(in crate::batch) async fn open_async(
        options: &CodecOptions,
    ) -> Result<(Self, BackendChoice)> {
        let forced = options.backend.forces_gpu();
        let request = DeviceRequest {
            engine: options.backend.device_engine(),
            adapter_index: options.adapter_index.filter(|_| forced),
            power_preference: options.power_preference,
            allow_software: options.allow_software && forced,
            ..DeviceRequest::default()
        };
        Ok(Self::with_device(
            GpuDevice::open_async(&request).await?,
            !forced,
        ))
    }

    pub(in crate::batch) fn with_device(device: GpuDevice, auto: bool) -> (Self, BackendChoice) {
        let reason = if auto {
            device.reason().to_owned()
        } else {
            format!("asked for; {}", device.reason())
        };
        let choice = BackendChoice {
            engine: device.name(),
            adapter: device.info().to_string(),
            software: device.info().is_software(),
            reason,
            rejected: device.rejected().to_vec(),
        };
        let pipeline = Pipeline::new(device, SLOTS, true, 1);
        (
            Self {
                pipeline,
                page_size: 0,
                verdicts: HashMap::new(),
            },
            choice,
        )
    }

    pub(in crate::batch) fn device(&self) -> &GpuDevice {
        self.pipeline.device()
    }

    /// Allows the next calls to block their thread and others of the pool, or not.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::batch) const fn set_may_block(&mut self, may_block: bool) {
        self.pipeline.may_block = may_block;
    }

    /// Returns true if calls may block their thread and others of the pool.
    pub(in crate::batch) const fn may_block(&self) -> bool {
        #[cfg(not(target_arch = "wasm32"))]
        return self.pipeline.may_block;
        #[cfg(target_arch = "wasm32")]
        return false;
    }

    /// Sets the number of pages per job for this page size.
    fn prepare(&mut self, page_size: u32) {
        if self.page_size != page_size {
            self.page_size = page_size;
            self.pipeline.batch_pages = (JOB_BYTES / u64::from(page_size.max(1))).max(1);
        }
    }

    /// Compresses to `pages`, whose contents are overwritten.
    pub(in crate::batch) async fn compress_into(
        &mut self,
        bytes: &[u8],
        form: Form<'_>,
        pages: &mut PackedPages,
    ) -> Result<Timings> {
        self.prepare(form.page_size);
        let (source, sink) = (Source::Bytes(bytes), Sink::Packed(pages));
        self.pipeline.compress_safely(source, form, sink).await
    }

    /// Compresses `content` to blocks of a frame, which are appended to `out`. Returns `sum` after adding the content.
    pub(in crate::batch) async fn compress_frame(
        &mut self,
        content: &[u8],
        options: &FrameOptions,
        sum: Option<Checksum>,
        out: &mut Vec<u8>,
    ) -> Result<(Option<Checksum>, Timings)> {
        self.prepare(options.block_size);
        let (mut aside_sum, sum) = match self.may_block() {
            true => (sum, None),
            false => (None, sum),
        };
        let hash = aside_sum.as_mut().map(|sum| || sum.add(content));
        let pipeline = &mut self.pipeline;
        let run = pipeline.compress_frame_safely(content, options, sum, out);
        let (sum, timings) = aside(hash, run).await?;
        Ok((aside_sum.or(sum), timings))
    }

    /// Decompresses checked pages to memory of their length, all of which is initialised after success. Writes only
    /// initialised bytes.
    pub(in crate::batch) async fn decompress_to(
        &mut self,
        pages: &Packed<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        self.prepare(pages.page_size);
        let run = self.pipeline.decompress_safely(pages, Target::Bytes(out));
        run.await
    }

    /// Times a compression to fresh memory.
    async fn time_compress(&mut self, bytes: &[u8], form: Form<'_>) -> Result<u64> {
        let mut pages = PackedPages::default();
        let compressed = self.compress_into(bytes, form, &mut pages);
        Ok(compressed.await?.total_ns)
    }

    /// Times a decompression of checked pages to fresh memory.
    async fn time_decompress(
        &mut self,
        pages: &PackedPages,
        dictionary: Option<&Dictionary>,
    ) -> Result<u64> {
        let n_bytes = pages.checked_n_bytes(dictionary)?;
        let mut bytes = Vec::new();
        reserve_result(&mut bytes, n_bytes)?;
        let room = &mut bytes.spare_capacity_mut()[..n_bytes];
        let pages = Packed::new(pages, dictionary);
        let (_, timings) = self.decompress_to(&pages, room).await?;
        Ok(timings.total_ns)
    }

    /// Chooses the engine for a compression of `n_bytes` by timing both on a sample, once per size class. `first` returns
    /// the sample.
    pub(in crate::batch) async fn weigh_compress<'a>(
        &mut self,
        n_bytes: usize,
        first: impl Fn(usize) -> Result<Cow<'a, [u8]>>,
        form: Form<'_>,
    ) -> Result<Plan> {
        check_page_size(form.page_size)?;
        let case = Case {
            compress: true,
            page_size: form.page_size,
            level: Some(form.level),
            has_dictionary: form.dictionary.is_some(),
            size: size_class(n_bytes),
        };
        if let Some(verdict) = self.verdicts.get(&case) {
            return Ok(verdict.plan());
        }
        let sample = first(n_bytes.min(FIRST_SAMPLE_BYTES))?;
        let cpu_ns = time(|| form.compress_on_cpu(&sample, &mut PackedPages::default()))?;
        if let Some(small) = too_small(cpu_ns, sample.len(), n_bytes) {
            return Ok(small);
        }
        let sample = first(n_bytes.min(SAMPLE_BYTES))?;
        // The first run compiles kernels and allocates buffers.
        self.time_compress(&sample, form).await?;
        let gpu_ns = self.time_compress(&sample, form).await?;
        let cpu_ns = time(|| form.compress_on_cpu(&sample, &mut PackedPages::default()))?;
        let verdict = Verdict {
            n_bytes: sample.len() as u64,
            gpu_ns,
            cpu_ns,
        };
        self.verdicts.insert(case, verdict);
        Ok(verdict.plan())
    }

    /// Chooses the engine for a decompression in the same way.
    pub(in crate::batch) async fn weigh_decompress(&mut self, pages: &Packed<'_>) -> Result<Plan> {
        check_page_size(pages.page_size)?;
        let n_bytes = usize::try_from(pages.n_bytes).unwrap_or(usize::MAX);
        let first = |n_bytes| match pages.first(n_bytes) {
            Ok(None) => Err(crate::batch::pipeline::ring::broken(
                "pinned blocks cannot be sampled".into(),
            )),
            Ok(Some(first)) => Ok(first),
            Err(error) => Err(error),
        };
        let case = Case {
            compress: false,
            page_size: pages.page_size,
            level: None,
            has_dictionary: pages.dictionary.is_some(),
            size: size_class(n_bytes),
        };
        if let Some(verdict) = self.verdicts.get(&case) {
            return Ok(verdict.plan());
        }
        let sample = first(FIRST_SAMPLE_BYTES)?;
        let cpu_ns = time(|| lz4::decompress_with(&sample, pages.dictionary))?;
        if let Some(small) = too_small(cpu_ns, sample.n_bytes as usize, n_bytes) {
            return Ok(small);
        }
        let sample = first(SAMPLE_BYTES)?;
        self.time_decompress(&sample, pages.dictionary).await?;
        let gpu_ns = self.time_decompress(&sample, pages.dictionary).await?;
        let cpu_ns = time(|| lz4::decompress_with(&sample, pages.dictionary))?;
        let verdict = Verdict {
            n_bytes: sample.n_bytes,
            gpu_ns,
            cpu_ns,
        };
        self.verdicts.insert(case, verdict);
        Ok(verdict.plan())
    }
}

fn size_class(n_bytes: usize) -> u32 {
    n_bytes.clamp(1, SAMPLE_BYTES).ilog2()
}

fn time<T>(work: impl FnOnce() -> Result<T>) -> Result<u64> {
    let clock = Clock::start();
    work()?;
    Ok(clock.elapsed_ns())
}

/// Returns the CPU plan if the CPU is expected to finish before a measurement would.
fn too_small(cpu_ns: u64, measured_bytes: usize, n_bytes: usize) -> Option<Plan> {
    let expected_ns = cpu_ns as f64 * n_bytes as f64 / measured_bytes.max(1) as f64;
    let reason = "too small to be worth a GPU's transfers: the CPU needs only milliseconds";
    (expected_ns < WORTH_MEASURING_NS as f64).then(|| Plan::Cpu(reason.into()))
}
