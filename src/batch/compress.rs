//! Pages to a device, packed blocks back.
//!
//! The device works through one queue, so the overlap is between device and host: while job k runs, the host writes
//! the pages of k + 1 to shared memory and copies the blocks of k - 1 out of it. Only compressed bytes cross back:
//! first the table and the packed size, then exactly that many bytes. A sink that wants to know how many bytes come in
//! all gets them after the last job; until then they stay on the device.

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
use crate::gpu::{
    Backend, Buffer, HostMemory, HostUse, Place, Recorder, Sized64, Submission, Waitable,
};
use crate::kernels::Slot;
use crate::kernels::lz4::compress_job;
use crate::lz4::Level;

/// Where the table starts in what is read back first; the packed size comes before it.
const TABLE_AT: u64 = 8;

/// Most bytes of pages whose blocks wait in device memory until their size in all is known.
const MAX_HELD_BYTES: usize = 512 << 20;

/// A job on the device.
struct Running {
    place: usize,
    n_pages: usize,
    /// Room for the blocks, as many bytes as the pages.
    packed: Buffer,
    /// Until the kernels have been waited for.
    kernels: Option<(Submission, JobBuffers)>,
    /// After that.
    table: Vec<u32>,
    packed_bytes: u64,
    /// The blocks are on their way to the host.
    asked: bool,
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
        let mut n_held = 0;
        for (k, range) in plan.into_iter().enumerate() {
            let range = range.start as usize..range.end as usize;
            if Sink::WANTS_TOTAL {
                n_held += range.len();
                if n_held > MAX_HELD_BYTES {
                    n_held = range.len();
                    self.drain(&mut running, &mut sink, &mut meter).await?;
                }
            } else if running.len() == self.ring.len() {
                self.finish(&mut running, &mut sink, &mut meter).await?;
            }
            let place = k % self.ring.len();
            let job = self
                .start(place, bytes, range, page_size, level, &mut meter)
                .await?;
            running.push_back(job);
            // This job keeps the device busy while the host waits for the one before it.
            if let Some(before) = running.len().checked_sub(2) {
                self.measure(&mut running[before], &mut meter).await?;
                if !Sink::WANTS_TOTAL {
                    self.ask(&mut running[before], &mut meter)?;
                }
            }
        }
        self.drain(&mut running, &mut sink, &mut meter).await?;
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
        Ok(Running {
            place,
            n_pages,
            packed: buffers.get(Slot::Packed)?.clone(),
            kernels: Some((stream.submit()?, buffers)),
            table: Vec::new(),
            packed_bytes: 0,
            asked: false,
        })
    }

    /// Waits for the kernels, and reads table and packed size.
    async fn measure(&mut self, job: &mut Running, meter: &mut Meter) -> Result<()> {
        let Some((submission, _buffers)) = job.kernels.take() else {
            return Ok(());
        };
        meter.kernels(submission.wait_async().await?);
        let clock = Clock::start();
        let Some(sizes) = &self.ring[job.place].words else {
            return Err(broken("sizes were not asked for".into()));
        };
        let mut read = sizes
            .read_async(0..TABLE_AT + 8 * job.n_pages as u64, words)
            .await?;
        job.packed_bytes = 4 * u64::from(read[0]);
        job.table = read.split_off(TABLE_AT as usize / 4);
        if job.packed_bytes > job.packed.n_bytes() {
            return Err(broken(format!(
                "{} packed bytes in a buffer of {}",
                job.packed_bytes,
                job.packed.n_bytes()
            )));
        }
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }

    /// Asks for the blocks of a job that was measured.
    fn ask(&mut self, job: &mut Running, meter: &mut Meter) -> Result<()> {
        if std::mem::replace(&mut job.asked, true) {
            return Ok(());
        }
        let clock = Clock::start();
        let download = reserve(
            &self.device,
            &mut self.ring[job.place].bytes,
            job.packed_bytes.max(4),
            HostUse::Download,
        )?;
        let mut stream = self.device.stream();
        let from = Place::Device(&job.packed, 0);
        stream.copy(Place::Host(download, 0), from, job.packed_bytes)?;
        stream.submit()?;
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }

    /// Takes all jobs to their end.
    async fn drain(
        &mut self,
        running: &mut VecDeque<Running>,
        sink: &mut impl BlockSink,
        meter: &mut Meter,
    ) -> Result<()> {
        if let Some(last) = running.back_mut() {
            self.measure(last, meter).await?;
        }
        sink.reserve(running.iter().map(|job| job.packed_bytes).sum())?;
        while !running.is_empty() {
            for job in running.iter_mut().take(self.ring.len()) {
                self.ask(job, meter)?;
            }
            self.finish(running, sink, meter).await?;
        }
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
        self.measure(&mut job, meter).await?;
        self.ask(&mut job, meter)?;
        let clock = Clock::start();
        let Some(download) = &self.ring[job.place].bytes else {
            return Err(broken("blocks were not asked for".into()));
        };
        sink.append(download, job.packed_bytes, &job.table).await?;
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }
}
