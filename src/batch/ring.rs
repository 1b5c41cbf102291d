//! A device with a ring of memory that it shares with the host: one place for each job in flight, kept between calls.

use super::timing::Timings;
use crate::clock::Clock;
use crate::gpu::times::BusyTime;
use crate::gpu::{
    Backend, Buffer, Busy, DeviceTimes, GpuDevice, HostBuffer, HostMemory, HostUse, Place,
    Recorder, Sized64, Stream, Waitable,
};
use crate::{Error, Result, memory};

/// A device and its ring. What runs on it is in [`super::compress`] and [`super::decompress`].
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(super) device: GpuDevice,
    pub(super) ring: Vec<RingPlace>,
    /// Jobs overlap; otherwise each step waits for the one before, and is measured alone.
    pub(super) overlap: bool,
    /// Most pages in a job.
    pub(super) batch_pages: u64,
    /// Times the device was lost and brought back.
    pub(super) n_devices_lost: u64,
    /// Whether a call has begun and not ended well: its future may have been dropped, with jobs in flight.
    pub(super) is_unsettled: bool,
    /// Progress callback of the call in flight.
    #[cfg(web_pages)]
    pub(super) on_progress: super::web::OnProgress,
}

/// Shared memory of one job in flight.
#[derive(Debug, Default)]
pub(super) struct RingPlace {
    upload: Option<HostBuffer>,
    /// Table and packed size, or statuses.
    pub(super) words: Option<HostBuffer>,
    /// Packed blocks, or pages.
    pub(super) bytes: Option<HostBuffer>,
}

/// Times of the jobs of a call, as the device measured them.
#[derive(Debug, Default)]
pub(super) struct Meter {
    upload: BusyTime,
    kernels: BusyTime,
    download: BusyTime,
    /// Bytes of pages whose results are there, and of their blocks.
    #[cfg(web_pages)]
    done: (u64, u64),
    #[cfg(web_pages)]
    on_progress: super::web::OnProgress,
}

impl Meter {
    /// Counts bytes of pages whose results are there, and of their blocks, and reports the progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancels the call.
    #[cfg(web_pages)]
    pub(super) fn done(&mut self, page_bytes: u64, block_bytes: u64) -> Result<()> {
        let (pages, blocks) = &mut self.done;
        *pages += page_bytes;
        *blocks += block_bytes;
        self.on_progress.report(*pages, *blocks)
    }

    /// Counts what one submission took; one that was not measured leaves all unmeasured.
    pub(super) fn add(&mut self, times: DeviceTimes) {
        self.upload.add(times.upload);
        self.kernels.add(times.kernels);
        self.download.add(times.download);
    }

    pub(super) fn timings(&self, clock: Clock) -> Timings {
        Timings {
            upload_ns: self.upload.ns(),
            kernel_ns: self.kernels.ns(),
            readback_ns: self.download.ns(),
            total_ns: clock.elapsed_ns(),
        }
    }
}

impl Pipeline {
    /// A pipeline of `slots` jobs in flight (one if not `overlap`), each of at most `batch_pages` pages.
    pub(crate) fn new(device: GpuDevice, slots: usize, overlap: bool, batch_pages: u64) -> Self {
        let slots = if overlap { slots.max(1) } else { 1 };
        let ring = (0..slots).map(|_| RingPlace::default()).collect();
        Self {
            device,
            ring,
            overlap,
            batch_pages,
            n_devices_lost: 0,
            is_unsettled: false,
            #[cfg(web_pages)]
            on_progress: super::web::OnProgress::default(),
        }
    }

    /// A meter for the jobs of one call.
    pub(super) fn meter(&self) -> Meter {
        Meter {
            #[cfg(web_pages)]
            on_progress: self.on_progress.clone(),
            ..Meter::default()
        }
    }

    pub(crate) fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Begins a call; what one that did not end left behind is forgotten.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.is_unsettled, true) {
            self.forget_jobs();
        }
    }

    /// Ends the call that [`begin`](Self::begin) began.
    pub(super) fn end<T>(&mut self, outcome: Result<T>) -> Result<T> {
        self.is_unsettled = outcome.is_err();
        outcome
    }

    /// Gives up the shared memory of jobs that nobody waits for any more.
    pub(super) fn forget_jobs(&mut self) {
        self.ring
            .iter_mut()
            .for_each(|place| *place = RingPlace::default());
    }

    /// Brings `parts` to their buffers: writes them to shared memory and records the copies. Without overlap the
    /// copies are made at once and a new stream begins.
    pub(super) async fn upload(
        &mut self,
        place: usize,
        parts: &[(Piece<'_>, &Buffer)],
        mut stream: Stream,
        meter: &mut Meter,
    ) -> Result<Stream> {
        let padded = |piece: &Piece<'_>| (piece.len() as u64).next_multiple_of(8);
        let total = parts
            .iter()
            .map(|(piece, _)| padded(piece))
            .sum::<u64>()
            .max(8);
        let host = reserve(
            &self.device,
            &mut self.ring[place].upload,
            total,
            HostUse::Upload,
        )?;
        let mut offset = 0;
        for (piece, buffer) in parts {
            piece.write(host, offset).await?;
            let n_bytes = (piece.len() as u64).next_multiple_of(4);
            stream.copy(Place::Device(buffer, 0), Place::Host(host, offset), n_bytes)?;
            offset += padded(piece);
        }
        self.step(stream, meter).await
    }

    /// Without overlap, makes the copies recorded so far at once and begins a new stream.
    pub(super) async fn step(&self, stream: Stream, meter: &mut Meter) -> Result<Stream> {
        if self.overlap {
            return Ok(stream);
        }
        let times = stream.submit_timed()?.wait_times_async().await?;
        // There are no kernels in it.
        meter.add(DeviceTimes {
            kernels: Busy::Spans(Vec::new()),
            ..times
        });
        Ok(self.device.stream())
    }
}

/// Bytes to upload.
#[derive(Debug, Clone)]
pub(super) enum Piece<'a> {
    /// In our memory.
    Bytes(&'a [u8]),
    /// A range of an array of JavaScript.
    #[cfg(web_pages)]
    Js(&'a crate::js_bytes::JsBytes, std::ops::Range<usize>),
    /// Ranges of such an array by their offset in the upload, which has so many bytes.
    #[cfg(web_pages)]
    JsParts(
        &'a crate::js_bytes::JsBytes,
        &'a [(u64, std::ops::Range<usize>)],
        usize,
    ),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            #[cfg(web_pages)]
            Self::Js(_, range) => range.len(),
            #[cfg(web_pages)]
            Self::JsParts(_, _, n_bytes) => *n_bytes,
        }
    }

    async fn write(&self, host: &HostBuffer, offset: u64) -> Result<()> {
        match self {
            Self::Bytes(bytes) => write_padded(host, offset, bytes).await,
            #[cfg(web_pages)]
            Self::Js(bytes, range) => {
                let body = range.start..range.end - range.len() % 8;
                let rest = bytes.read(body.end..range.end)?;
                let rest_at = offset + body.len() as u64;
                host.write_js_async(offset, bytes, body).await?;
                write_padded(host, rest_at, &rest).await
            }
            #[cfg(web_pages)]
            Self::JsParts(bytes, parts, n_bytes) => {
                let n_bytes = *n_bytes as u64;
                host.write_js_parts_async(offset, n_bytes, bytes, parts)
                    .await
            }
        }
    }
}

/// Writes `bytes` at a multiple of 8, zeros after them up to a multiple of 4.
async fn write_padded(host: &HostBuffer, offset: u64, bytes: &[u8]) -> Result<()> {
    let (body, rest) = bytes.split_at(bytes.len() & !7);
    host.write_async(offset, body).await?;
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    host.write_async(
        offset + body.len() as u64,
        &tail[..rest.len().next_multiple_of(4)],
    )
    .await
}

/// The buffer in `held`, replaced by a larger one if it is too small.
pub(super) fn reserve<'a>(
    device: &GpuDevice,
    held: &'a mut Option<HostBuffer>,
    n_bytes: u64,
    host_use: HostUse,
) -> Result<&'a HostBuffer> {
    if held
        .as_ref()
        .is_none_or(|buffer| buffer.n_bytes() < n_bytes)
    {
        // More than asked for, so that sizes that vary a little do not allocate again and again; little of what is
        // uploaded, all of which a browser copies whether it was written or not.
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
        .ok_or_else(|| broken("shared memory was not allocated".into()))
}

/// Little-endian words.
pub(super) fn words(bytes: &[u8]) -> Result<Vec<u32>> {
    let (bytes, _) = bytes.as_chunks();
    let mut words = memory::with_room(bytes.len())?;
    words.extend(bytes.iter().map(|&word| u32::from_le_bytes(word)));
    Ok(words)
}

pub(super) fn broken(message: String) -> Error {
    Error::Engine {
        engine: "batch",
        message,
    }
}
