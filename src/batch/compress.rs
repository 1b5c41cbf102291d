//! Pages to a device, packed blocks back.
//!
//! While job k runs, the host writes the pages of k + 1 to shared memory and copies the blocks of k - 1 out of it; where
//! the engine has streams, the device copies in both directions meanwhile. Only compressed bytes cross back: first the
//! table and the packed size, then exactly that many bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::job::JobBuffers;
use super::pinned::PinnedPart;
use super::plan;
use super::ring::{Meter, Piece, Pipeline, broken, reserve, words};
use super::source::Source;
use super::timing::Timings;
use crate::Result;
use crate::clock::Clock;
use crate::copy::append;
use crate::gpu::{
    Backend, Buffer, HostBuffer, HostMemory, HostUse, Place, Recorder, Sized64, Submission,
    Waitable,
};
use crate::kernels::Slot;
use crate::kernels::lz4::compress_job;
use crate::lz4::{Level, PackedPages, PageEntry, check_page_size};
use crate::memory;

/// Where the table starts in what is read back first; the packed size comes before it.
const TABLE_AT: u64 = 8;

/// Most bytes of pages whose blocks wait in device memory until their size in all is known.
const MAX_HELD_BYTES: u64 = 512 << 20;

/// A job on the device.
struct Running {
    place: usize,
    n_pages: usize,
    /// Bytes of the pages.
    #[cfg(web_pages)]
    n_bytes: u64,
    /// Room for the blocks.
    packed: Buffer,
    /// Until the kernels have been waited for.
    kernels: Option<(Submission, JobBuffers)>,
    /// After that.
    table: Vec<u32>,
    packed_bytes: u64,
    /// Once the blocks were asked for; the submission, where it is timed.
    download: Option<(HostBuffer, Option<Submission>)>,
}

/// Where compressed pages go.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    /// One after the other to memory of the caller.
    Packed(&'a mut PackedPages),
    /// Left in the memory that the device wrote.
    Pinned(&'a mut Vec<PinnedPart>),
    /// One after the other to memory of JavaScript.
    #[cfg(web_pages)]
    Js(&'a mut super::web::JsBlocks),
    /// To memory of JavaScript as the blocks of a frame, each behind its size.
    #[cfg(web_pages)]
    JsFrame(&'a mut super::frame_blocks::FrameBlocks),
}

impl Sink<'_> {
    /// Forgets what an earlier attempt left, and makes room for pages of `n_bytes`.
    fn begin(&mut self, n_bytes: u64, page_size: u32) -> Result<()> {
        match self {
            Self::Pinned(parts) => parts.clear(),
            #[cfg(web_pages)]
            Self::Js(blocks) => **blocks = super::web::JsBlocks::default(),
            #[cfg(web_pages)]
            Self::JsFrame(blocks) => blocks.begin(n_bytes, page_size),
            Self::Packed(pages) => {
                pages.packed.clear();
                pages.table.clear();
                (pages.page_size, pages.n_bytes) = (page_size, n_bytes);
                // A browser's memory never shrinks; elsewhere it costs nothing until it is written.
                if cfg!(not(target_arch = "wasm32")) {
                    let n_pages = n_bytes.div_ceil(page_size.into());
                    memory::reserve(&mut pages.packed, n_bytes.next_multiple_of(4) as usize)?;
                    memory::reserve(&mut pages.table, n_pages as usize)?;
                }
            }
        }
        Ok(())
    }
}

impl Sink<'_> {
    /// Whether it wants to know how many bytes come before they do: fresh memory of a browser costs as much as a copy,
    /// so it is taken once.
    fn wants_total(&self) -> bool {
        match self {
            Self::Packed(_) | Self::Pinned(_) => false,
            #[cfg(web_pages)]
            Self::Js(_) | Self::JsFrame(_) => true,
        }
    }

    /// Makes room for the blocks of `jobs`, which were measured and come next.
    fn expect(&mut self, jobs: &VecDeque<Running>) -> Result<()> {
        match self {
            Self::Packed(_) | Self::Pinned(_) => {
                let _ = jobs;
                Ok(())
            }
            #[cfg(web_pages)]
            Self::Js(blocks) => blocks.reserve(jobs.iter().map(|job| job.packed_bytes).sum()),
            #[cfg(web_pages)]
            Self::JsFrame(blocks) => blocks.reserve(jobs.iter().map(|job| &job.table[..])),
        }
    }
}

impl Pipeline {
    /// Compresses pages; the result is that of [`crate::lz4::compress_pages`].
    pub(crate) async fn compress(
        &mut self,
        source: Source<'_>,
        page_size: u32,
        level: Level,
        sink: &mut Sink<'_>,
    ) -> Result<Timings> {
        let clock = Clock::start();
        check_page_size(page_size)?;
        let mut meter = self.meter();
        let n_bytes = source.n_bytes();
        sink.begin(n_bytes, page_size)?;
        let plan = plan::compress(
            n_bytes,
            page_size,
            level,
            self.batch_pages,
            self.device.capabilities(),
        );
        let mut running: VecDeque<Running> = VecDeque::new();
        let mut n_held = 0;
        for (k, range) in plan.enumerate() {
            if sink.wants_total() {
                n_held += range.end - range.start;
                if n_held > MAX_HELD_BYTES {
                    n_held = range.end - range.start;
                    self.drain(&mut running, sink, &mut meter).await?;
                }
            } else if running.len() == self.ring.len() {
                self.finish(&mut running, sink, &mut meter).await?;
            }
            let place = k % self.ring.len();
            let job = self
                .start(place, source, range, page_size, level, &mut meter)
                .await?;
            running.push_back(job);
            // Half of the jobs in flight keep the bus and the device busy while the host waits for one before them.
            let behind = (self.ring.len() / 2).max(1);
            if let Some(before) = running.len().checked_sub(1 + behind) {
                self.measure(&mut running[before], &mut meter).await?;
                if !sink.wants_total() {
                    self.ask_blocks(&mut running[before], sink)?;
                }
            }
        }
        self.drain(&mut running, sink, &mut meter).await?;
        Ok(meter.timings(clock))
    }

    async fn start(
        &mut self,
        place: usize,
        source: Source<'_>,
        range: Range<u64>,
        page_size: u32,
        level: Level,
        meter: &mut Meter,
    ) -> Result<Running> {
        let n_bytes = range.end - range.start;
        let processors = self.device.capabilities().processors;
        let job = compress_job(n_bytes, page_size, level, processors)?;
        let buffers = JobBuffers::allocate(&self.device, &job, &[])?;
        let pages = buffers.get(Slot::Pages)?;
        let mut stream = self.device.stream();
        stream = match source {
            Source::Bytes(bytes) => {
                let part = Piece::Bytes(&bytes[range.start as usize..range.end as usize]);
                self.upload(place, &[(part, pages)], stream, meter).await?
            }
            #[cfg(web_pages)]
            Source::Js(bytes) | Source::JsFrame(bytes) => {
                let part = Piece::Js(bytes, range.start as usize..range.end as usize);
                self.upload(place, &[(part, pages)], stream, meter).await?
            }
            Source::Pinned(host, _) => {
                let from = Place::Host(host, range.start);
                stream.copy(Place::Device(pages, 0), from, n_bytes.next_multiple_of(4))?;
                self.step(stream, meter).await?
            }
        };
        buffers.record(&self.device, &job, &mut stream).await?;
        let n_pages = n_bytes.div_ceil(page_size.into()) as usize;
        let table_bytes = 8 * n_pages as u64;
        let sizes = reserve(
            &self.device,
            &mut self.ring[place].words,
            TABLE_AT + table_bytes,
            HostUse::Download,
        )?;
        stream.copy(
            Place::Host(sizes, 0),
            Place::Device(buffers.get(Slot::TileSums)?, 0),
            4,
        )?;
        stream.copy(
            Place::Host(sizes, TABLE_AT),
            Place::Device(buffers.get(Slot::Table)?, 0),
            table_bytes,
        )?;
        Ok(Running {
            place,
            n_pages,
            #[cfg(web_pages)]
            n_bytes,
            packed: buffers.get(Slot::Packed)?.clone(),
            kernels: Some((stream.submit_timed()?, buffers)),
            table: Vec::new(),
            packed_bytes: 0,
            download: None,
        })
    }

    /// Waits for the kernels, and reads table and packed size.
    async fn measure(&mut self, job: &mut Running, meter: &mut Meter) -> Result<()> {
        let Some((submission, _buffers)) = job.kernels.take() else {
            return Ok(());
        };
        meter.add(submission.wait_times_async().await?);
        let Some(sizes) = &self.ring[job.place].words else {
            return Err(broken("sizes were not asked for".into()));
        };
        let mut read = sizes
            .read_async(0..TABLE_AT + 8 * job.n_pages as u64, words)
            .await??;
        job.packed_bytes = 4 * u64::from(read[0]);
        job.table = read.split_off(TABLE_AT as usize / 4);
        if job.packed_bytes > job.packed.n_bytes() {
            return Err(broken(format!(
                "{} packed bytes in a buffer of {}",
                job.packed_bytes,
                job.packed.n_bytes()
            )));
        }
        #[cfg(web_pages)]
        meter.done(job.n_bytes, job.packed_bytes)?;
        Ok(())
    }

    /// Asks for the blocks of a job that was measured.
    fn ask_blocks(&mut self, job: &mut Running, sink: &Sink<'_>) -> Result<()> {
        if job.download.is_some() {
            return Ok(());
        }
        let n_bytes = job.packed_bytes.max(4);
        let download = match sink {
            // The caller keeps it.
            Sink::Pinned(_) => self
                .device
                .allocate_host_uncleared(n_bytes, HostUse::Download)?,
            _ => {
                let held = &mut self.ring[job.place].bytes;
                reserve(&self.device, held, n_bytes, HostUse::Download)?.clone()
            }
        };
        let mut stream = self.device.stream();
        let from = Place::Device(&job.packed, 0);
        stream.copy(Place::Host(&download, 0), from, job.packed_bytes)?;
        // Pages that are all fills have no blocks.
        let submission = match job.packed_bytes {
            0 => None,
            _ if self.device.capabilities().copy_timestamps => Some(stream.submit_timed()?),
            _ => stream.submit_untimed().map(|()| None)?,
        };
        job.download = Some((download, submission));
        Ok(())
    }

    /// Takes all jobs to their end.
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
        sink.expect(running)?;
        while !running.is_empty() {
            if sink.wants_total() {
                for job in running.iter_mut().take(self.ring.len()) {
                    self.ask_blocks(job, sink)?;
                }
            }
            self.finish(running, sink, meter).await?;
        }
        Ok(())
    }

    /// Takes the oldest job to its end: its blocks and entries go to `sink`.
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
        self.ask_blocks(&mut job, sink)?;
        let Some((download, submission)) = job.download else {
            return Err(broken("blocks were not asked for".into()));
        };
        let part = 0..job.packed_bytes;
        match sink {
            Sink::Packed(pages) => {
                let base = pages.packed.len();
                let packed = &mut pages.packed;
                download
                    .read_async(part, |bytes| append(packed, bytes))
                    .await??;
                entries(&job.table, base, &pages.packed, &mut pages.table)?;
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
        // It has run: the host read what it copied.
        if let Some(submission) = submission {
            meter.add(submission.wait_times_async().await?);
        }
        Ok(())
    }
}

/// Appends the entries of a job whose blocks start at `base` of `packed`.
fn entries(words: &[u32], base: usize, packed: &[u8], table: &mut Vec<PageEntry>) -> Result<()> {
    let blocks = &packed[base..];
    memory::reserve(table, words.len() / 2)?;
    for entry in words.chunks_exact(2) {
        let entry = PageEntry::from_words([entry[0], entry[1]], blocks)
            .map_err(|error| broken(format!("kernels wrote a table entry of no kind: {error}")))?;
        table.push(entry.behind(base as u64));
    }
    Ok(())
}
