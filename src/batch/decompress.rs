//! Packed blocks to a device, pages back; the same overlap as in compression.

use std::collections::VecDeque;
use std::ops::Range;

use super::bytes::{Bytes, PackedBytes};
use super::job::JobBuffers;
use super::plan::{self, Gathered};
use super::ring::{Meter, Part, Pipeline, broken, reserve, words};
use super::sink::PageSink;
use super::status::block_errors;
use super::timing::Timings;
use crate::clock::Clock;
use crate::gpu::{Backend, HostMemory, HostUse, Place, Recorder, Submission, Waitable};
use crate::kernels::Slot;
use crate::kernels::lz4::decompress_job;
use crate::lz4::BlockError;
use crate::{Error, Result};

/// Pages, and of each what is wrong with it.
pub(crate) type Checked<Sink> = (Sink, Vec<Option<BlockError>>);

/// A job on the device.
struct Running {
    place: usize,
    pages: Range<usize>,
    n_bytes: usize,
    oversized: Vec<usize>,
    submission: Submission,
    /// Kept until the device is done with them.
    _buffers: JobBuffers,
}

impl Pipeline {
    /// Decompresses pages; the result is that of [`crate::lz4::decompress_pages_status`].
    pub(crate) async fn decompress<Sink: PageSink>(
        &mut self,
        pages: &PackedBytes<'_>,
    ) -> Result<(Checked<Sink>, Timings)> {
        let clock = Clock::start();
        let mut meter = Meter::default();
        let n_bytes = check(pages)?;
        let mut sink = Sink::new(n_bytes)?;
        let mut status = Vec::with_capacity(pages.table.len());
        let capabilities = self.device.capabilities();
        let plan = plan::decompress(
            pages.table.len() as u64,
            pages.page_size,
            self.batch_pages,
            capabilities,
        );
        let mut running = VecDeque::new();
        for (k, range) in plan.into_iter().enumerate() {
            if running.len() == self.ring.len() {
                self.collect(&mut running, pages, &mut sink, &mut status, &mut meter)
                    .await?;
            }
            let range = range.start as usize..range.end as usize;
            running.push_back(
                self.send(k % self.ring.len(), pages, range, &mut meter)
                    .await?,
            );
        }
        while !running.is_empty() {
            self.collect(&mut running, pages, &mut sink, &mut status, &mut meter)
                .await?;
        }
        Ok(((sink, status), meter.timings(clock)))
    }

    async fn send(
        &mut self,
        place: usize,
        pages: &PackedBytes<'_>,
        range: Range<usize>,
        meter: &mut Meter,
    ) -> Result<Running> {
        let Gathered {
            packed,
            table,
            oversized,
        } = plan::gather(pages, range.clone())?;
        let page_size = pages.page_size as usize;
        let n_bytes = (range.end * page_size).min(pages.n_bytes as usize) - range.start * page_size;
        // A packed buffer is never empty; its entries then are all bad, so the bytes do not matter.
        let packed_bytes = packed.n_bytes().max(4) as u64;
        let job = decompress_job(n_bytes as u64, pages.page_size, packed_bytes);
        let buffers = JobBuffers::allocate(&self.device, &job, &[])?;
        let (blocks, blocks_range) = packed.find(&pages.packed);
        let table = Bytes::Slice(bytemuck::cast_slice(&table));
        let parts = [
            Part {
                bytes: &blocks,
                range: blocks_range,
                buffer: buffers.get(Slot::Packed)?,
            },
            Part {
                range: 0..table.len(),
                bytes: &table,
                buffer: buffers.get(Slot::Table)?,
            },
        ];
        let stream = self.device.stream();
        let mut stream = self.upload(place, &parts, stream, meter).await?;
        buffers.record(&self.device, &job, &mut stream).await?;
        let copied = n_bytes.next_multiple_of(4) as u64;
        let place_of = &mut self.ring[place];
        let host = reserve(&self.device, &mut place_of.bytes, copied, HostUse::Download)?;
        stream.copy(
            Place::Host(host, 0),
            Place::Device(buffers.get(Slot::Pages)?, 0),
            copied,
        )?;
        let status_bytes = 4 * range.len() as u64;
        let host = reserve(
            &self.device,
            &mut place_of.words,
            status_bytes,
            HostUse::Download,
        )?;
        stream.copy(
            Place::Host(host, 0),
            Place::Device(buffers.get(Slot::Status)?, 0),
            status_bytes,
        )?;
        let submission = stream.submit()?;
        Ok(Running {
            place,
            pages: range,
            n_bytes,
            oversized,
            submission,
            _buffers: buffers,
        })
    }

    /// Takes the oldest job to its end.
    async fn collect(
        &mut self,
        running: &mut VecDeque<Running>,
        pages: &PackedBytes<'_>,
        sink: &mut impl PageSink,
        status: &mut Vec<Option<BlockError>>,
        meter: &mut Meter,
    ) -> Result<()> {
        let Some(job) = running.pop_front() else {
            return Ok(());
        };
        meter.kernels(job.submission.wait_async().await?);
        let clock = Clock::start();
        let place = &self.ring[job.place];
        let (Some(host), Some(host_status)) = (&place.bytes, &place.words) else {
            return Err(broken("pages were not asked for".into()));
        };
        let start = job.pages.start * pages.page_size as usize;
        sink.put(start, host, job.n_bytes).await?;
        let codes = host_status
            .read_async(0..4 * job.pages.len() as u64, words)
            .await?;
        status.extend(block_errors(&codes)?);
        for page in job.oversized {
            let start = page * pages.page_size as usize;
            let end = (start + pages.page_size as usize).min(pages.n_bytes as usize);
            let mut content = vec![0; end - start];
            status[page] = pages.decompress_page(page, &mut content)?;
            sink.put_page(start, &content);
        }
        meter.readback_ns += clock.elapsed_ns();
        Ok(())
    }
}

/// Bytes of all pages, if table and page size agree with them.
fn check(pages: &PackedBytes<'_>) -> Result<usize> {
    plan::check_page_size(pages.page_size)?;
    let wrong = |name, value: u64, expected| Error::InvalidArgument {
        name,
        value: value.to_string(),
        expected,
    };
    let n_pages = pages.n_bytes.div_ceil(u64::from(pages.page_size));
    if n_pages != pages.table.len() as u64 {
        return Err(wrong(
            "table length",
            pages.table.len() as u64,
            "give one entry for each page of n_bytes",
        ));
    }
    usize::try_from(pages.n_bytes)
        .map_err(|_| wrong("n_bytes", pages.n_bytes, "give no more than fits in memory"))
}
