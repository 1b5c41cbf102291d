//! Compresses pages on a device in a software pipeline.
//!
//! While job k runs, the host writes the pages of job k + 1 to staging memory and copies the blocks of job k - 1 out of it.
//! On engines with streams the device copies in both directions at the same time. Only compressed bytes are read back:
//! first the table and the packed size, then exactly that many bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::job::JobBuffers;
use super::piece::Piece;
use super::placement::Done;
use super::plan::{self, Form};
use super::ring::{Meter, Pipeline, broken, reserve, table_entry, words};
use super::shared::{Shared, layout};
use super::sink::{PinnedPart, Sink};
use super::source::Source;
use crate::Result;
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::copy::append;
use crate::gpu::{
    Backend, Buffer, HostBuffer, HostMemory, HostUse, Place, Recorder, Submission, Waitable,
};
use crate::kernels::{Job, Slot};
use crate::lz4::{PageEntry, check_page_size};
use crate::memory;

/// Byte offset of the table in the first readback, behind the packed size.
const TABLE_AT: u64 = 8;

/// Limit on the bytes of pages whose blocks stay in device memory until their total size is known.
const MAX_HELD_BYTES: u64 = 512 << 20;

/// Limit on the bytes of pages whose blocks are read back with their sizes, at their worst case: a second wait takes longer than
/// the copy.
const MAX_READ_WHOLE: u64 = 128 << 10;

/// A job that was submitted to the device.
struct Running {
    /// Index of its slot in the ring.
    slot: usize,
    /// Its number among the jobs of the call.
    order: usize,
    n_pages: usize,
    /// Its bytes among those of the pages.
    bytes: Range<u64>,
    /// Worst-case sized output of the kernels.
    packed: Buffer,
    /// The submission with the kernels; `None` once it was waited for.
    kernels: Option<(Submission, JobBuffers)>,
    /// Table words, read once the kernels are done.
    table: Vec<u32>,
    packed_bytes: u64,
    /// Staging buffer of the blocks, with the submission of their readback where that is one of its own and timed; `None` before it
    /// is submitted. Where memory is shared, kernels write them there.
    download: Option<(HostBuffer, Option<Submission>)>,
}

impl Pipeline {
    /// Compresses pages to the same bytes as [`crate::lz4::compress_pages`].
    pub(crate) async fn compress(
        &mut self,
        source: Source<'_>,
        form: Form<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Timings> {
        let clock = Clock::start();
        check_page_size(form.page_size)?;
        let mut meter = self.meter();
        let n_bytes = source.n_bytes();
        sink.begin(n_bytes, &form)?;
        let capabilities = self.device.capabilities();
        let plan = plan::compress(n_bytes, &form, self.batch_pages, capabilities);
        let jobs = plan.enumerate();
        self.compress_jobs(source, jobs, form, sink, &mut meter)
            .await?;
        Ok(meter.timings(clock))
    }

    /// Compresses the pages of `jobs`: of each its number among those of the call, and its range of bytes.
    pub(super) async fn compress_jobs(
        &mut self,
        source: Source<'_>,
        jobs: impl Iterator<Item = (usize, Range<u64>)>,
        form: Form<'_>,
        sink: &mut Sink<'_>,
        meter: &mut Meter,
    ) -> Result<()> {
        let mut running: VecDeque<Running> = VecDeque::new();
        let mut n_held = 0;
        for (k, job) in jobs.enumerate() {
            if sink.wants_total() {
                let n_bytes = job.1.end - job.1.start;
                n_held += n_bytes;
                if n_held > MAX_HELD_BYTES {
                    n_held = n_bytes;
                    self.drain(&mut running, sink, meter).await?;
                }
            } else if running.len() == self.ring.len() {
                self.finish(&mut running, sink, meter).await?;
            }
            let slot = k % self.ring.len();
            let job = self.start(slot, source, job, form, sink, meter).await?;
            running.push_back(job);
            // Half of the jobs in flight keep the bus and the device busy while the host waits for an older one.
            let behind = (self.ring.len() / 2).max(1);
            if let Some(before) = running.len().checked_sub(1 + behind) {
                self.measure(&mut running[before], meter).await?;
                if !sink.wants_total() {
                    self.read_back(&mut running[before], sink)?;
                }
            }
        }
        self.drain(&mut running, sink, meter).await
    }

    /// Uploads the pages of a job and submits its kernels.
    async fn start(
        &mut self,
        slot: usize,
        source: Source<'_>,
        (order, range): (usize, Range<u64>),
        form: Form<'_>,
        sink: &Sink<'_>,
        meter: &mut Meter,
    ) -> Result<Running> {
        let n_bytes = range.end - range.start;
        let job = form.job(n_bytes, self.device.capabilities())?;
        let mut shared = Shared::default();
        let part = range.start as usize..range.end as usize;
        let piece = match source {
            Source::Bytes(bytes) | Source::Frame(bytes) => Some(Piece::Bytes(&bytes[part])),
            #[cfg(web_pages)]
            Source::Js(bytes) | Source::JsFrame(bytes) => Some(Piece::Js(bytes, part)),
            Source::Pinned(host, _) => {
                shared.add(Slot::Pages, host, range.start, HostUse::Upload);
                None
            }
        };
        if piece.is_some() {
            self.reserve_upload(slot, &job, &[Slot::Pages], &mut shared)?;
        }
        let is_small = n_bytes == source.n_bytes() && n_bytes <= MAX_READ_WHOLE;
        let download = self.early_download(slot, &job, is_small, sink, &mut shared)?;
        let dictionary = self.dictionary.given(&self.device, form.dictionary).await?;
        let given: Vec<_> = shared.given().chain(dictionary).collect();
        let buffers = JobBuffers::allocate(&self.device, &job, &given)?;
        let pages = buffers.get(Slot::Pages)?;
        let mut stream = self.device.stream();
        if let Some(piece) = piece {
            let parts = [(piece, Slot::Pages, 0)];
            stream = self.upload(slot, &parts, &buffers, stream, meter).await?;
        } else if let (Source::Pinned(host, _), false) = (source, pages.is_of_host()) {
            let from = Place::Host(host, range.start);
            stream.copy(Place::Device(pages, 0), from, n_bytes.next_multiple_of(4))?;
            stream = self.step(stream, meter).await?;
        }
        buffers.record(&self.device, &job, &mut stream).await?;
        let packed = buffers.get(Slot::Packed)?;
        if let Some(host) = download.as_ref().filter(|_| !packed.is_of_host()) {
            let to = Place::Host(host, 0);
            stream.copy(to, Place::Device(packed, 0), n_bytes.next_multiple_of(4))?;
        }
        let n_pages = n_bytes.div_ceil(form.page_size.into()) as usize;
        let table_bytes = 8 * n_pages as u64;
        let sizes = reserve(
            &self.device,
            &mut self.ring[slot].words,
            TABLE_AT + table_bytes,
            HostUse::Download,
        )?;
        stream.copy(
            Place::Host(sizes, 0),
            Place::Device(buffers.get(Slot::Places)?, 0),
            4,
        )?;
        stream.copy(
            Place::Host(sizes, TABLE_AT),
            Place::Device(buffers.get(Slot::Table)?, 0),
            table_bytes,
        )?;
        Ok(Running {
            slot,
            order,
            n_pages,
            bytes: range,
            packed: packed.clone(),
            kernels: Some((stream.submit_timed()?, buffers)),
            table: Vec::new(),
            packed_bytes: 0,
            download: download.map(|host| (host, None)),
        })
    }

    /// Returns the slot's staging buffer for the blocks if they need no readback of their own: it serves as the buffer of blocks if the
    /// device shares memory, and a small call copies them with their sizes. A caller that keeps the blocks gets a buffer of their
    /// own size, to which they are copied.
    fn early_download(
        &mut self,
        slot: usize,
        job: &Job,
        is_small: bool,
        sink: &Sink<'_>,
        shared: &mut Shared,
    ) -> Result<Option<HostBuffer>> {
        let shares_memory = self.device.capabilities().shares_memory;
        if !(shares_memory || is_small) || matches!(sink, Sink::Pinned(_)) {
            return Ok(None);
        }
        let (_, n_bytes) = layout(job, &[Slot::Packed]);
        let held = &mut self.ring[slot].bytes;
        let host = reserve(&self.device, held, n_bytes, HostUse::Download)?;
        if shares_memory {
            shared.add(Slot::Packed, host, 0, HostUse::Download);
        }
        Ok(Some(host.clone()))
    }

    /// Waits for the kernels and reads the table and the packed size.
    async fn measure(&mut self, job: &mut Running, meter: &mut Meter) -> Result<()> {
        let Some((submission, _buffers)) = job.kernels.take() else {
            return Ok(());
        };
        meter.add(submission.wait_times_async().await?);
        let Some(sizes) = &self.ring[job.slot].words else {
            return Err(broken("sizes were not read back".into()));
        };
        let mut read = sizes
            .read_async(0..TABLE_AT + 8 * job.n_pages as u64, words)
            .await??;
        job.packed_bytes = 4 * u64::from(read[0]);
        job.table = read.split_off(TABLE_AT as usize / 4);
        let most = (job.bytes.end - job.bytes.start).next_multiple_of(4);
        if job.packed_bytes > most {
            let n_bytes = job.packed_bytes;
            return Err(broken(format!(
                "{n_bytes} packed bytes in a buffer of {most}"
            )));
        }
        #[cfg(web_pages)]
        meter.done(job.bytes.end - job.bytes.start, job.packed_bytes)?;
        Ok(())
    }

    /// Submits the readback of a measured job's blocks.
    fn read_back(&mut self, job: &mut Running, sink: &Sink<'_>) -> Result<()> {
        if job.download.is_some() {
            return Ok(());
        }
        let n_bytes = job.packed_bytes.max(4);
        let download = match sink {
            // The caller keeps the buffer.
            Sink::Pinned(_) => self
                .device
                .allocate_host_uncleared(n_bytes, HostUse::Download)?,
            _ => {
                let held = &mut self.ring[job.slot].bytes;
                reserve(&self.device, held, n_bytes, HostUse::Download)?.clone()
            }
        };
        let mut stream = self.device.stream();
        let from = Place::Device(&job.packed, 0);
        stream.copy(Place::Host(&download, 0), from, job.packed_bytes)?;
        // A job whose pages are all fills has no blocks.
        let submission = match job.packed_bytes {
            0 => None,
            _ if self.device.capabilities().copy_timestamps => Some(stream.submit_timed()?),
            _ => stream.submit_untimed().map(|()| None)?,
        };
        job.download = Some((download, submission));
        Ok(())
    }

    /// Finishes all jobs in order.
    async fn drain(
        &mut self,
        running: &mut VecDeque<Running>,
        sink: &mut Sink<'_>,
        meter: &mut Meter,
    ) -> Result<()> {
        if sink.wants_total() {
            for job in running.iter_mut() {
                self.measure(job, meter).await?;
            }
        }
        let jobs = running.iter();
        sink.reserve(jobs.map(|job| (job.packed_bytes, &job.table[..])))?;
        while !running.is_empty() {
            if sink.wants_total() {
                for job in running.iter_mut().take(self.ring.len()) {
                    self.read_back(job, sink)?;
                }
            }
            self.finish(running, sink, meter).await?;
        }
        Ok(())
    }

    /// Finishes the oldest job: writes its blocks and table entries to `sink`.
    async fn finish(
        &mut self,
        running: &mut VecDeque<Running>,
        sink: &mut Sink<'_>,
        meter: &mut Meter,
    ) -> Result<()> {
        let Some(mut job) = running.pop_front() else {
            return Ok(());
        };
        self.measure(&mut job, meter).await?;
        self.read_back(&mut job, sink)?;
        let Some((download, submission)) = job.download else {
            return Err(broken("blocks were not read back".into()));
        };
        let part = 0..job.packed_bytes;
        match sink {
            Sink::Packed(pages) => {
                let base = pages.packed.len();
                let packed = &mut pages.packed;
                download
                    .read_async(part, |bytes| append(packed, bytes))
                    .await??;
                let blocks = &pages.packed[base..];
                entries(&job.table, base as u64, blocks, &mut pages.table)?;
            }
            Sink::Placed(placing) => {
                let place = |blocks: &[u8]| {
                    placing.place(Done {
                        order: job.order,
                        pages: job.bytes,
                        words: &job.table,
                        blocks,
                    })
                };
                download.read_async(part, place).await??;
            }
            #[cfg(web_pages)]
            Sink::Js(blocks) => {
                let n_bytes = job.packed_bytes;
                blocks.append(&download, n_bytes, &job.table).await?;
            }
            #[cfg(web_pages)]
            Sink::JsFrame(blocks) => {
                let n_bytes = job.packed_bytes;
                blocks.append(&download, n_bytes, &job.table).await?;
            }
            Sink::Pinned(parts) => {
                let mut table = Vec::new();
                let read =
                    download.read_async(part, |bytes| entries(&job.table, 0, bytes, &mut table));
                read.await??;
                parts.push(PinnedPart {
                    packed: download,
                    packed_bytes: job.packed_bytes,
                    table,
                });
            }
        }
        // This does not wait: the host has read what the submission copied.
        if let Some(submission) = submission {
            meter.add(submission.wait_times_async().await?);
        }
        Ok(())
    }
}

/// Appends the table entries of a job whose `blocks` are at byte `start` of the output.
pub(super) fn entries(
    words: &[u32],
    start: u64,
    blocks: &[u8],
    table: &mut Vec<PageEntry>,
) -> Result<()> {
    memory::reserve(table, words.len() / 2)?;
    for entry in words.chunks_exact(2) {
        let entry = table_entry([entry[0], entry[1]], blocks)?;
        table.push(entry.behind(start));
    }
    Ok(())
}
