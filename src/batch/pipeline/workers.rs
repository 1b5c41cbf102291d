//! Host memory to host memory on all cores, for calls that may block.
//!
//! One thread that feeds a GPU does not copy at the speed of the memory: each of its copies wakes the thread pool, and
//! submissions, waits and page faults of the result come in between. Here every thread of the pool is a worker with a small ring
//! of its own: it copies, submits and waits alone, while others copy. `docs/decisions/035` has the measurements.

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::decompress::Target;
use super::placement::{FailOnPanic, Placement};
use super::plan::{self, Form, Packed};
use super::ring::{Meter, Pipeline};
use super::sink::Sink;
use super::source::Source;
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::copy::has_threads;
use crate::engine::CUDA;
use crate::gpu::Backend;
use crate::gpu::runtime::block_on;
use crate::lz4::{BlockError, PackedPages, PageEntry, check_page_size};
use crate::{Result, memory};

/// Bytes of pages from which on workers are faster: measured 0.95 times as fast as one thread at 64 MiB, 1.1 to 1.2 times at
/// 128 MiB, 1.2 to 1.5 times at 1 GiB.
const MIN_BYTES: u64 = 128 << 20;
/// Bytes of pages in one job of a worker.
const JOB_BYTES: u64 = 8 << 20;
/// Jobs in flight of a worker.
const SLOTS: usize = 2;

impl Pipeline {
    /// Returns the number of workers for a call on pages of `n_bytes`; `None` if one thread does it.
    ///
    /// On CUDA only: wgpu has one queue, at which workers wait for each other (measured 1.3 to 8 times slower).
    pub(super) fn n_workers(&self, n_bytes: u64) -> Option<usize> {
        if !self.may_block || n_bytes < MIN_BYTES || self.device.name() != CUDA || !has_threads() {
            return None;
        }
        let n_workers = rayon::current_num_threads().min(self.most_workers);
        (n_workers > 1).then_some(n_workers)
    }

    /// Lowers the number of workers after memory ran out; returns false if there were none.
    pub(super) fn has_fewer_workers(&mut self) -> bool {
        if self.workers.is_empty() {
            return false;
        }
        self.most_workers /= 4;
        true
    }

    /// Returns `n` workers, each with jobs of at most `batch_pages` pages, and of less than this pipeline's.
    fn workers(&mut self, n: usize, page_size: u32) -> &mut [Self] {
        let batch_pages = (JOB_BYTES / u64::from(page_size)).min(self.batch_pages);
        let device = &self.device;
        let new = || Self::new(device.clone(), SLOTS, true, batch_pages);
        self.workers.resize_with(n.max(self.workers.len()), new);
        let workers = &mut self.workers[..n];
        for worker in &mut *workers {
            worker.batch_pages = batch_pages;
            worker.dictionary = self.dictionary.clone();
            worker.begin();
        }
        workers
    }

    /// As [`compress`](Self::compress), from memory to memory.
    pub(super) fn compress_on_workers(
        &mut self,
        n_workers: usize,
        bytes: &[u8],
        form: Form<'_>,
        pages: &mut PackedPages,
    ) -> Result<Timings> {
        check_page_size(form.page_size)?;
        Sink::Packed(pages).begin(bytes.len() as u64, &form)?;
        let placement = Placement::new(pages.packed.spare_capacity_mut(), None);
        let timings = self.place_on_workers(n_workers, bytes, form, &placement)?;
        let (n_packed, tables) = placement.finish();
        // SAFETY: the jobs took the first `n_packed` bytes of the spare capacity, without gaps, and each wrote all that it took
        // before it succeeded, as all have.
        unsafe { pages.packed.set_len(n_packed) };
        tables.iter().for_each(|table| pages.table.extend(table));
        Ok(timings)
    }

    /// Compresses pages to the places of their jobs.
    pub(super) fn place_on_workers(
        &mut self,
        n_workers: usize,
        bytes: &[u8],
        form: Form<'_>,
        placement: &Placement<'_>,
    ) -> Result<Timings> {
        let clock = Clock::start();
        let capabilities = self.device.capabilities().clone();
        let workers = self.workers(n_workers, form.page_size);
        let batch_pages = workers[0].batch_pages;
        let n_bytes = bytes.len() as u64;
        let jobs = plan::compress(n_bytes, &form, batch_pages, &capabilities);
        let jobs = Mutex::new(jobs.enumerate());
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |worker: &mut Self| {
            let _guard = FailOnPanic(placement);
            let mut meter = worker.meter();
            let (source, mut sink) = (Source::Bytes(bytes), Sink::Placed(placement));
            let jobs = std::iter::from_fn(next);
            let run = worker.compress_jobs(source, jobs, form, &mut sink, &mut meter);
            let run = block_on(run);
            let outcome = worker.end(run).map(|()| meter);
            outcome.inspect_err(|error| placement.fail(error.clone()))
        };
        Ok(sum(on_all(workers, work)?).timings(clock))
    }

    /// As [`decompress`](Self::decompress), from memory to memory.
    pub(super) fn decompress_on_workers(
        &mut self,
        n_workers: usize,
        pages: &Packed<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let clock = Clock::start();
        let per_worker = pages.table.len().div_ceil(n_workers).max(1);
        let tables = pages.table.chunks(per_worker);
        let outs = out.chunks_mut(per_worker * pages.page_size as usize);
        let workers = self.workers(n_workers, pages.page_size).iter_mut();
        let shares = workers.zip(tables).zip(outs);
        let share = |((worker, table), out)| Share { worker, table, out };
        let mut shares: Vec<_> = shares.map(share).collect();
        let work = |Share { worker, table, out }: &mut Share<'_>| {
            let share = Packed {
                table,
                n_bytes: out.len() as u64,
                ..*pages
            };
            let run = block_on(worker.decompress_metered(&share, &mut Target::Bytes(out)));
            worker.end(run)
        };
        let (statuses, meters): (Vec<_>, Vec<_>) = on_all(&mut shares, work)?.into_iter().unzip();
        let mut status = memory::with_room(pages.table.len())?;
        statuses.iter().for_each(|part| status.extend(part));
        Ok((status, sum(meters).timings(clock)))
    }
}

/// A worker's share of the pages to decompress.
struct Share<'a> {
    worker: &'a mut Pipeline,
    table: &'a [PageEntry],
    out: &'a mut [MaybeUninit<u8>],
}

fn sum(meters: Vec<Meter>) -> Meter {
    let mut sum = Meter::default();
    meters.into_iter().for_each(|meter| sum.join(meter));
    sum
}

/// Runs `work` for each element on a thread of the pool, and returns the results in order.
fn on_all<W: Send, T: Send>(
    workers: &mut [W],
    work: impl Fn(&mut W) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    workers.par_iter_mut().with_max_len(1).map(work).collect()
}

#[cfg(all(test, feature = "wgpu"))]
mod tests {
    use super::*;
    use crate::batch::pipeline::framing::Framing;
    use crate::gpu::{DeviceRequest, GpuDevice};
    use crate::lz4;
    use crate::lz4::frame::{self, Checksum, FrameOptions, FramePages, FrameWriter};
    use crate::lz4::{Dictionary, Level};
    use crate::{Error, PAGE_SIZE};

    const N_WORKERS: usize = 3;

    /// Returns a pipeline with jobs of 32 pages.
    fn pipeline() -> Result<Pipeline> {
        let request = DeviceRequest {
            allow_software: true,
            ..DeviceRequest::default()
        };
        Ok(Pipeline::new(GpuDevice::open(&request)?, 4, true, 32))
    }

    fn form(level: Level) -> Form<'static> {
        Form {
            page_size: 4096,
            level,
            dictionary: None,
        }
    }

    /// Returns 130 pages and a part of one: text, fills and noise.
    fn content() -> Vec<u8> {
        let byte = |i: u32| match i / 5000 % 3 {
            0 => (i / 3 % 50) as u8,
            1 => 7,
            _ => (i.wrapping_mul(2_654_435_761) >> 23) as u8,
        };
        (0..130 * PAGE_SIZE as u32 + 99).map(byte).collect()
    }

    #[test]
    fn workers_give_the_bytes_of_the_cpu() {
        let (mut pipeline, content) = (pipeline().unwrap(), content());
        let dictionary = Dictionary::new(&content[..9000]);
        let behind = Form {
            dictionary: Some(&dictionary),
            ..form(Level::Fast)
        };
        for form in [form(Level::Fast), form(Level::High), behind] {
            let mut expected = PackedPages::default();
            form.compress_on_cpu(&content, &mut expected).unwrap();
            let mut found = PackedPages::default();
            // The second call uses the rings of the first.
            for _ in 0..2 {
                pipeline
                    .compress_on_workers(N_WORKERS, &content, form, &mut found)
                    .unwrap();
                assert!(found == expected, "{form:?}");
            }
            expected.table[70].length ^= 1;
            let (twin, twin_status) = lz4::decompress_with(&expected, form.dictionary).unwrap();
            assert!(twin_status[70].is_some());
            for pages in [&found, &expected] {
                let mut out = vec![0xa5; content.len()];
                // SAFETY: the workers write only initialised bytes.
                let room = unsafe { memory::as_uninit(&mut out) };
                let packed = Packed::new(pages, form.dictionary);
                let run = pipeline.decompress_on_workers(N_WORKERS, &packed, room);
                let (status, timings) = run.unwrap();
                match pages == &found {
                    true => assert!(out == content && status.iter().all(Option::is_none)),
                    false => assert!(out == twin && status == twin_status),
                }
                assert!(timings.total_ns > 0);
            }
        }
    }

    #[test]
    fn blocks_of_frames_are_those_of_the_cpu() {
        let (mut pipeline, content) = (pipeline().unwrap(), content());
        for (block_checksums, level) in [(false, Level::Fast), (true, Level::High)] {
            let options = FrameOptions {
                block_size: 4096,
                block_checksums,
                level,
                ..FrameOptions::default()
            };
            let expected = frame::compress(&content, &options).unwrap();
            let mut header = Vec::new();
            FrameWriter::new(&options, &mut header).unwrap();
            let blocks = &expected[header.len()..expected.len() - 8];
            let sum = Checksum::new();
            let mut out = Vec::with_capacity(2 * content.len());
            let run = pipeline.compress_frame_safely(&content, &options, Some(sum), &mut out);
            let (sum, _) = block_on(run).unwrap();
            assert!(out == blocks);
            assert_eq!(sum.unwrap().value(), frame::checksum(&content));
            out.clear();
            let framing = Framing::new(&options, &content, None, false);
            let placement = Placement::new(out.spare_capacity_mut(), Some(framing));
            let run = pipeline.place_on_workers(N_WORKERS, &content, form(level), &placement);
            run.unwrap();
            let (n_bytes, _) = placement.finish();
            assert_eq!(n_bytes, blocks.len());
            // SAFETY: the workers wrote so many bytes.
            unsafe { out.set_len(n_bytes) };
            assert!(out == blocks);
            // And back, from the places of the blocks in the frame.
            let read = |at: usize, to: &mut [u8]| {
                to.copy_from_slice(&expected[at..at + to.len()]);
                Ok(())
            };
            let pages = FramePages::read(expected.len(), &read, None)
                .unwrap()
                .unwrap();
            let packed = Packed {
                blocks: Source::Frame(&expected),
                table: &pages.table,
                page_size: 4096,
                n_bytes: content.len() as u64,
                dictionary: None,
            };
            let mut back = vec![0xa5; content.len()];
            // SAFETY: the workers write only initialised bytes.
            let room = unsafe { memory::as_uninit(&mut back) };
            let run = pipeline.decompress_on_workers(N_WORKERS, &packed, room);
            assert!(run.unwrap().0.iter().all(Option::is_none) && back == content);
        }
    }

    /// The attempt after a loss begins anew, with the checksum too.
    #[test]
    fn frames_survive_a_lost_device() {
        let (mut pipeline, content) = (pipeline().unwrap(), content());
        let options = FrameOptions {
            block_size: 4096,
            ..FrameOptions::default()
        };
        let expected = frame::compress(&content, &options).unwrap();
        pipeline.device.destroy();
        let mut out = vec![3];
        out.reserve(2 * content.len());
        let sum = Some(Checksum::new());
        let run = block_on(pipeline.compress_frame_safely(&content, &options, sum, &mut out));
        assert_eq!(run.unwrap().0.unwrap().value(), frame::checksum(&content));
        assert!(out[0] == 3 && expected[7..].starts_with(&out[1..]));
        assert_eq!(pipeline.n_devices_lost, 1);
    }

    #[test]
    fn a_failure_of_one_worker_ends_all() {
        let (mut pipeline, content) = (pipeline().unwrap(), content());
        pipeline.device.destroy();
        let mut found = PackedPages::default();
        let run = pipeline.compress_on_workers(N_WORKERS, &content, form(Level::Fast), &mut found);
        assert!(matches!(run, Err(Error::DeviceLost { .. })), "{run:?}");
    }
}
