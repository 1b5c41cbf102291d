//! A device with a ring of staging buffers: one slot for each job in flight, kept between calls.

use super::dictionary::Held;
use super::job::JobBuffers;
use super::piece::Piece;
use super::shared::{Shared, layout};
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::gpu::times::BusyTime;
use crate::gpu::{
    Backend, Busy, DeviceTimes, GpuDevice, HostBuffer, HostUse, Place, Recorder, Sized64, Stream,
    Waitable,
};
use crate::kernels::{Job, Slot};
use crate::lz4::PageEntry;
use crate::{Error, Result, memory};

/// A device and its ring of staging buffers. [`super::compress`] and [`super::decompress`] run jobs on it.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(in crate::batch) device: GpuDevice,
    pub(in crate::batch) ring: Vec<RingSlot>,
    /// True if jobs overlap; otherwise each step waits for the one before, and is timed alone.
    pub(in crate::batch) overlap: bool,
    /// Maximum number of pages of a job.
    pub(in crate::batch) batch_pages: u64,
    /// The dictionary in the memory of the device.
    pub(super) dictionary: Held,
    /// True if calls may block their thread and others of the pool.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::batch) may_block: bool,
    /// Pipelines on the same device, one for each thread that works on a call.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) workers: Vec<Self>,
    /// Most workers of a call.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) most_workers: usize,
    /// Number of device losses that were recovered.
    pub(in crate::batch) n_devices_lost: u64,
    /// True from the start of a call until it succeeds. A dropped future leaves it set, with jobs in flight.
    pub(in crate::batch) is_unsettled: bool,
    /// Progress callback of the call in flight.
    #[cfg(web_pages)]
    pub(in crate::batch) on_progress: super::js::OnProgress,
}

/// Most threads that work on a call: more do not copy faster.
#[cfg(not(target_arch = "wasm32"))]
const MAX_WORKERS: usize = 16;

/// Staging buffers of one job in flight.
#[derive(Debug, Default)]
pub(in crate::batch) struct RingSlot {
    upload: Option<HostBuffer>,
    /// Readback of the table and the packed size, or of the statuses.
    pub(in crate::batch) words: Option<HostBuffer>,
    /// Readback of packed blocks, or of pages.
    pub(in crate::batch) bytes: Option<HostBuffer>,
}

/// Accumulates the device times of the jobs of one call.
#[derive(Debug, Default)]
pub(in crate::batch) struct Meter {
    upload: BusyTime,
    kernels: BusyTime,
    download: BusyTime,
    /// Bytes of finished pages, and of their blocks.
    #[cfg(web_pages)]
    done: (u64, u64),
    #[cfg(web_pages)]
    on_progress: super::js::OnProgress,
}

impl Meter {
    /// Counts bytes of finished pages and of their blocks, and reports progress to the caller.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancels the call.
    #[cfg(web_pages)]
    pub(in crate::batch) fn done(&mut self, page_bytes: u64, block_bytes: u64) -> Result<()> {
        let (pages, blocks) = &mut self.done;
        *pages += page_bytes;
        *blocks += block_bytes;
        self.on_progress.report(*pages, *blocks)
    }

    /// Adds the times of one submission. An untimed submission makes the sum `None`.
    pub(in crate::batch) fn add(&mut self, times: DeviceTimes) {
        self.upload.add(times.upload);
        self.kernels.add(times.kernels);
        self.download.add(times.download);
    }

    /// Adds the times of jobs of the same call that another thread ran.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::batch) fn join(&mut self, other: Self) {
        self.upload.join(other.upload);
        self.kernels.join(other.kernels);
        self.download.join(other.download);
    }

    pub(in crate::batch) fn timings(&self, clock: Clock) -> Timings {
        Timings {
            upload_ns: self.upload.ns(),
            kernel_ns: self.kernels.ns(),
            readback_ns: self.download.ns(),
            total_ns: clock.elapsed_ns(),
        }
    }
}

impl Pipeline {
    /// Creates a pipeline of `slots` jobs in flight (one without `overlap`), each of at most `batch_pages` pages.
    pub(crate) fn new(device: GpuDevice, slots: usize, overlap: bool, batch_pages: u64) -> Self {
        let slots = if overlap { slots.max(1) } else { 1 };
        let ring = (0..slots).map(|_| RingSlot::default()).collect();
        Self {
            device,
            ring,
            overlap,
            batch_pages,
            dictionary: Held::default(),
            #[cfg(not(target_arch = "wasm32"))]
            may_block: false,
            #[cfg(not(target_arch = "wasm32"))]
            workers: Vec::new(),
            #[cfg(not(target_arch = "wasm32"))]
            most_workers: MAX_WORKERS,
            n_devices_lost: 0,
            is_unsettled: false,
            #[cfg(web_pages)]
            on_progress: super::js::OnProgress::default(),
        }
    }

    /// Returns a meter for the jobs of one call.
    pub(in crate::batch) fn meter(&self) -> Meter {
        Meter {
            #[cfg(web_pages)]
            on_progress: self.on_progress.clone(),
            ..Meter::default()
        }
    }

    pub(crate) fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Begins a call and drops the jobs of a call whose future was dropped.
    pub(in crate::batch) fn begin(&mut self) {
        if std::mem::replace(&mut self.is_unsettled, true) {
            self.forget_jobs();
        }
    }

    /// Ends the call that [`begin`](Self::begin) began.
    pub(in crate::batch) fn end<T>(&mut self, outcome: Result<T>) -> Result<T> {
        self.is_unsettled = outcome.is_err();
        outcome
    }

    /// Drops the staging buffers of abandoned jobs.
    pub(in crate::batch) fn forget_jobs(&mut self) {
        #[cfg(not(target_arch = "wasm32"))]
        self.workers.clear();
        self.ring
            .iter_mut()
            .for_each(|slot| *slot = RingSlot::default());
    }

    /// Reserves the slot's staging buffer for uploads to the buffers `roles` of `job`. Returns their offsets in it.
    pub(super) fn reserve_upload(
        &mut self,
        slot: usize,
        job: &Job,
        roles: &[Slot],
        shared: &mut Shared,
    ) -> Result<Vec<u64>> {
        let (offsets, n_bytes) = layout(job, roles);
        let held = &mut self.ring[slot].upload;
        let host = reserve(&self.device, held, n_bytes, HostUse::Upload)?;
        for (&role, &at) in roles.iter().zip(&offsets) {
            shared.add(role, host, at, HostUse::Upload);
        }
        Ok(offsets)
    }

    /// Writes `parts` to the [reserved](Self::reserve_upload) staging buffer, each at its offset, and records their copies to those
    /// of the job's buffers that are device memory. Without overlap the copies are submitted and waited for, and a new stream is
    /// returned.
    pub(super) async fn upload(
        &mut self,
        slot: usize,
        parts: &[(Piece<'_>, Slot, u64)],
        buffers: &JobBuffers,
        mut stream: Stream,
        meter: &mut Meter,
    ) -> Result<Stream> {
        let Some(host) = &self.ring[slot].upload else {
            return Err(broken("no staging buffer was reserved".into()));
        };
        for (piece, role, offset) in parts {
            piece.write(host, *offset).await?;
            let buffer = buffers.get(*role)?;
            if !buffer.is_of_host() {
                let n_bytes = (piece.len() as u64).next_multiple_of(4);
                let from = Place::Host(host, *offset);
                stream.copy(Place::Device(buffer, 0), from, n_bytes)?;
            }
        }
        self.step(stream, meter).await
    }

    /// Without overlap, submits and waits for the copies recorded so far, and returns a new stream. Where memory is shared there
    /// may be none, and the job's own submission times them.
    pub(super) async fn step(&self, stream: Stream, meter: &mut Meter) -> Result<Stream> {
        if self.overlap || self.device.capabilities().shares_memory {
            return Ok(stream);
        }
        let times = stream.submit_timed()?.wait_times_async().await?;
        // The submission has no kernels: no time for them must be recorded.
        meter.add(DeviceTimes {
            kernels: Busy::Spans(Vec::new()),
            ..times
        });
        Ok(self.device.stream())
    }
}

/// Returns the buffer in `held`, after replacing one of fewer than `n_bytes` by a larger one.
pub(in crate::batch) fn reserve<'a>(
    device: &GpuDevice,
    held: &'a mut Option<HostBuffer>,
    n_bytes: u64,
    host_use: HostUse,
) -> Result<&'a HostBuffer> {
    if held
        .as_ref()
        .is_none_or(|buffer| buffer.n_bytes() < n_bytes)
    {
        // Over-allocate, so that slightly varying sizes do not reallocate at each call. Upload buffers get less slack,
        // since a browser copies the whole mapping whether it was written or not.
        let most = device.capabilities().max_buffer_bytes;
        let more = match host_use {
            HostUse::Upload => n_bytes / 64,
            HostUse::Download => n_bytes / 8,
        };
        let roomy = n_bytes
            .saturating_add(more)
            .checked_next_multiple_of(256)
            .unwrap_or(n_bytes)
            .min(most)
            .max(n_bytes);
        *held = Some(device.allocate_host_uncleared(roomy, host_use)?);
    }
    held.as_ref()
        .ok_or_else(|| broken("the staging buffer was not allocated".into()))
}

/// Reads little-endian words.
pub(in crate::batch) fn words(bytes: &[u8]) -> Result<Vec<u32>> {
    let (bytes, _) = bytes.as_chunks();
    let mut words = memory::with_room(bytes.len())?;
    words.extend(bytes.iter().map(|&word| u32::from_le_bytes(word)));
    Ok(words)
}

/// Parses a table entry that the kernels wrote. `blocks` holds the words of fills; without it they are 0.
pub(super) fn table_entry(words: [u32; 2], blocks: &[u8]) -> Result<PageEntry> {
    let invalid = |error| broken(format!("the kernels wrote an invalid table entry: {error}"));
    PageEntry::from_words(words, blocks).map_err(invalid)
}

pub(in crate::batch) fn broken(message: String) -> Error {
    Error::Engine {
        engine: "batch",
        message,
    }
}
