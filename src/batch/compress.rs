//! Pages to a device, packed blocks back.
//!
//! The device works through one queue, so the overlap is between device and host: while job k runs, the host writes
//! the pages of k + 1 to shared memory and copies the blocks of k - 1 out of it. Only compressed bytes cross back:
//! first the table and the packed size, then exactly that many bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::bytes::Bytes;
use super::job::JobBuffers;
use super::plan;
use super::ring::{Meter, Part, Pipeline, broken, reserve, words};
use super::sink::BlockSink;
use super::timing::Timings;
use crate::Result;
use crate::clock::Clock;
use crate::gpu::{Backend, HostMemory, HostUse, Place, Recorder, Sized64, Submission, Waitable};
use crate::kernels::Slot;
use crate::kernels::lz4::compress_job;
use crate::lz4::Level;

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
    pub(crate) async fn compress<Sink: BlockSink>(
        &mut self,
        bytes: &Bytes<'_>,
        page_size: u32,
        level: Level,
    ) -> Result<(Sink, Timings)> {
        let clock = Clock::start();
        plan::check_page_size(page_size)?;
        let mut meter = Meter::default();
        let n_bytes = bytes.len() as u64;
        let mut sink = Sink::new(bytes.len(), page_size);
        let plan = plan::compress(
            n_bytes,
            page_size,
            level,
            self.batch_pages,
            self.device.capabilities(),
        );
        let mut running: VecDeque<Running> = VecDeque::new();
        for (k, range) in plan.into_iter().enumerate() {
            if running.len() == self.ring.len() {
                self.finish(&mut running, &mut sink, &mut meter).await?;
            }
            let range = range.start as usize..range.end as usize;
            let place = k % self.ring.len();
            let job = self
                .start(place, bytes, range, page_size, level, &mut meter)
                .await?;
            running.push_back(job);
            // This job keeps the device busy while the host waits for the one before it.
            if let Some(before) = running.len().checked_sub(2) {
                self.fetch(&mut running[before], &mut meter).await?;
            }
        }
        while !running.is_empty() {
            self.finish(&mut running, &mut sink, &mut meter).await?;
        }
        Ok((sink, meter.timings(clock)))
    }

    async fn start(
        &mut self,
        place: usize,
        bytes: &Bytes<'_>,
        range: Range<usize>,
        page_size: u32,
        level: Level,
        meter: &mut Meter,
    ) -> Result<Running> {
        let n_pages = range.len().div_ceil(page_size as usize);
        let job = compress_job(range.len() as u64, page_size, level);
        let buffers = JobBuffers::allocate(&self.device, &job, &[])?;
        let part = Part {
            bytes,
            range,
            buffer: buffers.get(Slot::Pages)?,
        };
        let stream = self.device.stream();
        let mut stream = self.upload(place, &[part], stream, meter).await?;
        buffers.record(&self.device, &job, &mut stream).await?;
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

    /// Takes the oldest job to its end: its blocks and entries go to the sink.
    async fn finish(
        &mut self,
        running: &mut VecDeque<Running>,
        sink: &mut impl BlockSink,
        meter: &mut Meter,
    ) -> Result<()> {
        let Some(mut job) = running.pop_front() else {
            return Ok(());
        };
        self.fetch(&mut job, meter).await?;
        let clock = Clock::start();
        let Some(download) = &self.ring[job.place].bytes else {
            return Err(broken("blocks were not asked for".into()));
        };
        sink.append(download, job.packed_bytes, &job.table).await?;
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }
}
