//! Pages to a device, packed blocks back.
//!
//! The device works through one queue, so the overlap is between device and host: while job k runs, the host writes
//! the pages of k + 1 to shared memory and copies the blocks of k - 1 out of it. Only compressed bytes cross back:
//! first the table and the packed size, then exactly that many bytes.

use std::collections::VecDeque;

use super::job::JobBuffers;
use super::plan;
use super::ring::{Meter, Pipeline, broken, put, reserve, room, words};
use super::timing::Timings;
use crate::Result;
use crate::clock::Clock;
use crate::gpu::{Backend, HostMemory, HostUse, Place, Recorder, Sized64, Submission, Waitable};
use crate::kernels::Slot;
use crate::kernels::lz4::compress_job;
use crate::lz4::{Level, PackedPages, PageEntry};

/// Where the table starts in what is read back first; the packed size comes before it.
const TABLE_AT: u64 = 8;

/// A job on the device.
struct Running {
    place: usize,
    n_pages: usize,
    buffers: JobBuffers,
    /// Until the kernels have been waited for.
    submission: Option<Submission>,
    /// After that.
    table: Vec<u32>,
    packed_bytes: u64,
}

impl Pipeline {
    /// Compresses pages; the result is that of [`crate::lz4::compress_pages`].
    pub(crate) async fn compress(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<(PackedPages, Timings)> {
        let clock = Clock::start();
        plan::check_page_size(page_size)?;
        let mut meter = Meter::default();
        let n_bytes = bytes.len() as u64;
        let mut pages = PackedPages {
            packed: room(bytes.len().next_multiple_of(4)),
            table: Vec::new(),
            page_size,
            n_bytes,
        };
        let plan = plan::compress(
            n_bytes,
            page_size,
            level,
            self.batch_pages,
            self.device.capabilities(),
        );
        let mut running: VecDeque<Running> = VecDeque::new();
        let mut n_packed = 0;
        for (k, range) in plan.into_iter().enumerate() {
            if running.len() == self.ring.len() {
                self.finish(&mut running, &mut pages, &mut n_packed, &mut meter)
                    .await?;
            }
            let part = &bytes[range.start as usize..range.end as usize];
            let job = self
                .start(k % self.ring.len(), part, page_size, level, &mut meter)
                .await?;
            running.push_back(job);
            // This job keeps the device busy while the host waits for the one before it.
            if let Some(before) = running.len().checked_sub(2) {
                self.fetch(&mut running[before], &mut meter).await?;
            }
        }
        while !running.is_empty() {
            self.finish(&mut running, &mut pages, &mut n_packed, &mut meter)
                .await?;
        }
        pages.packed.truncate(n_packed);
        pages.packed.shrink_to_fit();
        Ok((pages, meter.timings(clock)))
    }

    async fn start(
        &mut self,
        place: usize,
        part: &[u8],
        page_size: u32,
        level: Level,
        meter: &mut Meter,
    ) -> Result<Running> {
        let job = compress_job(part.len() as u64, page_size, level);
        let buffers = JobBuffers::allocate(&self.device, &job, &[])?;
        let stream = self.device.stream();
        let mut stream = self
            .upload(place, &[(part, buffers.get(Slot::Pages)?)], stream, meter)
            .await?;
        buffers.record(&self.device, &job, &mut stream).await?;
        let n_pages = part.len().div_ceil(page_size as usize);
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
        let submission = Some(stream.submit()?);
        Ok(Running {
            place,
            n_pages,
            buffers,
            submission,
            table: Vec::new(),
            packed_bytes: 0,
        })
    }

    /// Waits for the kernels, reads table and packed size, and asks for the packed bytes.
    async fn fetch(&mut self, job: &mut Running, meter: &mut Meter) -> Result<()> {
        let Some(submission) = job.submission.take() else {
            return Ok(());
        };
        meter.kernels(submission.wait_async().await?);
        let clock = Clock::start();
        let place = &mut self.ring[job.place];
        let Some(sizes) = &place.words else {
            return Err(broken("sizes were not asked for".into()));
        };
        let mut read = sizes
            .read_async(0..TABLE_AT + 8 * job.n_pages as u64, words)
            .await?;
        job.packed_bytes = 4 * u64::from(read[0]);
        job.table = read.split_off(TABLE_AT as usize / 4);
        let packed = job.buffers.get(Slot::Packed)?;
        if job.packed_bytes > packed.n_bytes() {
            return Err(broken(format!(
                "{} packed bytes in a buffer of {}",
                job.packed_bytes,
                packed.n_bytes()
            )));
        }
        let download = reserve(
            &self.device,
            &mut place.bytes,
            job.packed_bytes.max(4),
            HostUse::Download,
        )?;
        let mut stream = self.device.stream();
        stream.copy(
            Place::Host(download, 0),
            Place::Device(packed, 0),
            job.packed_bytes,
        )?;
        stream.submit()?;
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }

    /// Takes the oldest job to its end: its blocks are appended to the packed bytes, its entries moved there.
    async fn finish(
        &mut self,
        running: &mut VecDeque<Running>,
        pages: &mut PackedPages,
        n_packed: &mut usize,
        meter: &mut Meter,
    ) -> Result<()> {
        let Some(mut job) = running.pop_front() else {
            return Ok(());
        };
        self.fetch(&mut job, meter).await?;
        let clock = Clock::start();
        let base = *n_packed;
        *n_packed += job.packed_bytes as usize;
        if let Some(download) = &self.ring[job.place].bytes {
            let packed = &mut pages.packed;
            download
                .read_async(0..job.packed_bytes, |bytes| put(packed, base, bytes))
                .await?;
        }
        for entry in job.table.chunks_exact(2) {
            let entry = PageEntry::from_words([entry[0], entry[1]], &pages.packed[base..*n_packed]);
            let entry = entry.map_err(|error| {
                broken(format!("kernels wrote a table entry of no kind: {error}"))
            })?;
            pages.table.push(PageEntry {
                offset: entry.offset + base as u64,
                ..entry
            });
        }
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }
}
