//! Decompresses pages on a device, in the same software pipeline as compression.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::gather::{Blocks, Gathered, gather};
use super::job::JobBuffers;
use super::piece::Piece;
use super::plan::{self, Packed};
use super::ring::{Meter, Pipeline, broken, reserve, words};
use super::shared::Shared;
use super::source::Source;
use super::status::{block_error, is_unfinished};
use crate::batch::timing::Timings;
use crate::clock::Clock;
use crate::copy::fill;
use crate::gpu::{
    Backend, Buffer, HostBuffer, HostMemory, HostUse, Place, Recorder, Stream, Submission, Waitable,
};
use crate::kernels::Slot;
use crate::lz4::{BlockError, PageEntry, check_page_size};
use crate::memory;
use crate::{Error, Result};

/// Destination of decompressed pages.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// Memory of the caller, as long as all pages together. Only initialised bytes are written, and all after success.
    Bytes(&'a mut [MaybeUninit<u8>]),
    /// A pinned buffer that the device writes directly, and the page size in bytes.
    Pinned(&'a HostBuffer, u32),
    /// A `Uint8Array`, as long as all pages together.
    #[cfg(web_pages)]
    Js(&'a crate::js_bytes::JsBytes),
    /// Writes to device memory, as long as all pages rounded up to 4 bytes. The CPU cannot decode to it.
    #[cfg(web_pages)]
    Device(&'a Buffer),
}

impl Target<'_> {
    /// Returns true if the CPU can decompress blocks to it.
    fn takes_blocks(&self) -> bool {
        #[cfg(web_pages)]
        if let Self::Device(_) = self {
            return false;
        }
        true
    }

    /// Returns the caller's device memory for the bytes in `range` of the pages, if the destination is on the device.
    fn given(&self, range: Range<u64>) -> Option<(Slot, &Buffer, Range<u64>)> {
        #[cfg(web_pages)]
        if let Self::Device(buffer) = self {
            return Some((Slot::Pages, buffer, range));
        }
        let _ = range;
        None
    }

    /// Decompresses the block of `page` on the CPU, if the host can write to the destination, and returns its error.
    fn decompress(&mut self, pages: &Packed<'_>, page: usize, block: &[u8]) -> Option<BlockError> {
        let start = page * pages.page_size as usize;
        let end = (start + pages.page_size as usize).min(pages.n_bytes as usize);
        let entry = PageEntry {
            offset: 0,
            ..pages.table[page]
        };
        match self {
            Self::Bytes(bytes) => {
                let page = &mut bytes[start..end];
                entry.decompress_uninit(block, page, pages.dictionary).err()
            }
            Self::Pinned(..) => Some(BlockError::BadTableEntry),
            #[cfg(web_pages)]
            Self::Device(_) => Some(BlockError::BadTableEntry),
            #[cfg(web_pages)]
            Self::Js(out) => {
                let mut content = vec![0; end - start];
                let error = entry.decompress(block, &mut content).err();
                // The array may have been shrunk meanwhile.
                drop(out.write(start, &content));
                error
            }
        }
    }
}

/// A job that was submitted to the device.
struct Running {
    /// Index of its slot in the ring.
    slot: usize,
    pages: Range<usize>,
    n_bytes: usize,
    oversized: Vec<usize>,
    submission: Submission,
    /// Buffers that are kept until the device has finished with them.
    _buffers: JobBuffers,
}

impl Pipeline {
    /// Decompresses pages with the same result as [`crate::lz4::decompress_pages_status`].
    pub(crate) async fn decompress(
        &mut self,
        pages: &Packed<'_>,
        target: &mut Target<'_>,
    ) -> Result<(Vec<Option<BlockError>>, Timings)> {
        let clock = Clock::start();
        let (status, meter) = self.decompress_metered(pages, target).await?;
        Ok((status, meter.timings(clock)))
    }

    /// As [`decompress`](Self::decompress), with the times as a meter.
    pub(super) async fn decompress_metered(
        &mut self,
        pages: &Packed<'_>,
        target: &mut Target<'_>,
    ) -> Result<(Vec<Option<BlockError>>, Meter)> {
        let mut meter = self.meter();
        let mut status = memory::with_room(pages.table.len())?;
        let plan = plan::decompress(pages, self.batch_pages, self.device.capabilities());
        let mut running = VecDeque::new();
        for (k, range) in plan.enumerate() {
            if running.len() == self.ring.len() {
                self.finish_decompression(&mut running, pages, target, &mut status, &mut meter)
                    .await?;
            }
            let range = range.start as usize..range.end as usize;
            let slot = k % self.ring.len();
            let job = self
                .start_decompression(slot, pages, range, target, &mut meter)
                .await?;
            running.push_back(job);
        }
        while !running.is_empty() {
            self.finish_decompression(&mut running, pages, target, &mut status, &mut meter)
                .await?;
        }
        Ok((status, meter))
    }

    /// Uploads the blocks of a job and submits its kernel.
    async fn start_decompression(
        &mut self,
        slot: usize,
        pages: &Packed<'_>,
        range: Range<usize>,
        target: &Target<'_>,
        meter: &mut Meter,
    ) -> Result<Running> {
        let Gathered {
            blocks,
            table,
            oversized,
        } = gather(pages, range.clone())?;
        let page_size = pages.page_size as usize;
        let n_bytes = (range.end * page_size).min(pages.n_bytes as usize) - range.start * page_size;
        // A binding is never empty. Without blocks all entries are invalid, so the kernel reads none of its bytes.
        let packed_bytes = blocks.n_bytes().max(4);
        let job = pages.job(n_bytes as u64, packed_bytes, self.device.capabilities())?;
        let start = (range.start * page_size) as u64;
        let mut shared = Shared::default();
        let pinned = match (pages.blocks, &blocks) {
            (Source::Pinned(host, _), Blocks::Whole(range)) => Some((host, range)),
            _ => None,
        };
        let roles = match pinned {
            Some((host, range)) => {
                shared.add(Slot::Packed, host, range.start, HostUse::Upload);
                &[Slot::Table][..]
            }
            None => &[Slot::Table, Slot::Packed],
        };
        let offsets = self.reserve_upload(slot, &job, roles, &mut shared)?;
        self.share_target(slot, start, n_bytes, target, &mut shared)?;
        let dictionary = self
            .dictionary
            .given(&self.device, pages.dictionary)
            .await?;
        let target_pages = target.given(start..start + n_bytes as u64);
        let given = target_pages.into_iter().chain(dictionary);
        let given: Vec<_> = given.chain(shared.given()).collect();
        let buffers = JobBuffers::allocate(&self.device, &job, &given)?;
        let on_device = buffers.get(Slot::Packed)?;
        let mut stream = self.device.stream();
        let words = Piece::Bytes(bytemuck::cast_slice(&table));
        let mut parts = vec![(words, Slot::Table, offsets[0])];
        match pinned {
            None => parts.push((blocks.of(pages), Slot::Packed, offsets[1])),
            Some((host, range)) if !on_device.is_of_host() => {
                let n_bytes = (range.end - range.start).next_multiple_of(4);
                let from = Place::Host(host, range.start);
                stream.copy(Place::Device(on_device, 0), from, n_bytes)?;
            }
            Some(_) => {}
        }
        let mut stream = self.upload(slot, &parts, &buffers, stream, meter).await?;
        buffers.record(&self.device, &job, &mut stream).await?;
        self.record_readback(slot, range.clone(), n_bytes, &buffers, target, &mut stream)?;
        let submission = stream.submit_timed()?;
        Ok(Running {
            slot,
            pages: range,
            n_bytes,
            oversized,
            submission,
            _buffers: buffers,
        })
    }

    /// Lets memory of the host, the slot's staging buffer or the target itself, serve as the buffer of the pages from byte `start`
    /// on, if the device shares memory.
    fn share_target(
        &mut self,
        slot: usize,
        start: u64,
        n_bytes: usize,
        target: &Target<'_>,
        shared: &mut Shared,
    ) -> Result<()> {
        if !self.device.capabilities().shares_memory {
            return Ok(());
        }
        match target {
            Target::Bytes(_) => {
                let n_bytes = n_bytes.next_multiple_of(4) as u64;
                let held = &mut self.ring[slot].bytes;
                let host = reserve(&self.device, held, n_bytes, HostUse::Download)?;
                shared.add(Slot::Pages, host, 0, HostUse::Download);
            }
            Target::Pinned(host, _) => shared.add(Slot::Pages, host, start, HostUse::Download),
            #[cfg(web_pages)]
            Target::Js(_) | Target::Device(_) => {}
        }
        Ok(())
    }

    /// Records the copies of pages and statuses to the host.
    fn record_readback(
        &mut self,
        slot: usize,
        range: Range<usize>,
        n_bytes: usize,
        buffers: &JobBuffers,
        target: &Target<'_>,
        stream: &mut Stream,
    ) -> Result<()> {
        let copied = n_bytes.next_multiple_of(4) as u64;
        let slot = &mut self.ring[slot];
        let from = buffers.get(Slot::Pages)?;
        let to = match target {
            _ if from.is_of_host() => None,
            Target::Pinned(host, page_size) => Some(Place::Host(
                *host,
                range.start as u64 * u64::from(*page_size),
            )),
            #[cfg(web_pages)]
            Target::Device(_) => None,
            _ => {
                let host = reserve(&self.device, &mut slot.bytes, copied, HostUse::Download)?;
                Some(Place::Host(host, 0))
            }
        };
        if let Some(to) = to {
            stream.copy(to, Place::Device(from, 0), copied)?;
        }
        let n_bytes = 4 * range.len() as u64;
        let host = reserve(&self.device, &mut slot.words, n_bytes, HostUse::Download)?;
        let status = Place::Device(buffers.get(Slot::Status)?, 0);
        stream.copy(Place::Host(host, 0), status, n_bytes)
    }

    /// Finishes the oldest job: copies its pages to `target` and its statuses to `status`.
    async fn finish_decompression(
        &mut self,
        running: &mut VecDeque<Running>,
        pages: &Packed<'_>,
        target: &mut Target<'_>,
        status: &mut Vec<Option<BlockError>>,
        meter: &mut Meter,
    ) -> Result<()> {
        let Some(job) = running.pop_front() else {
            return Ok(());
        };
        let start = job.pages.start * pages.page_size as usize;
        #[cfg(web_pages)]
        if let Target::Js(out) = &*target {
            out.touch(start..start + job.n_bytes);
        }
        meter.add(job.submission.wait_times_async().await?);
        let slot = &self.ring[job.slot];
        let Some(host_status) = &slot.words else {
            return Err(broken("statuses were not read back".into()));
        };
        #[cfg(web_pages)]
        if let (Target::Js(out), Some(host)) = (&mut *target, &slot.bytes) {
            host.read_js_async(0..job.n_bytes as u64, out, start)
                .await?;
        }
        if let Target::Bytes(bytes) = &mut *target {
            let Some(host) = &slot.bytes else {
                return Err(broken("pages were not read back".into()));
            };
            let out = &mut bytes[start..start + job.n_bytes];
            let copied = job.n_bytes.next_multiple_of(4) as u64;
            host.read_async(0..copied, |read| fill(out, &read[..out.len()]))
                .await?;
        }
        let codes = host_status
            .read_async(0..4 * job.pages.len() as u64, words)
            .await??;
        memory::reserve(status, codes.len())?;
        let mut for_cpu = job.oversized;
        for (page, &code) in job.pages.clone().zip(&codes) {
            let entry = &pages.table[page];
            if is_unfinished(code) && target.takes_blocks() && pages.blocks.block(entry)?.is_some()
            {
                for_cpu.push(page);
                status.push(None);
            } else {
                status.push(block_error(code)?);
            }
        }
        for page in for_cpu {
            if let Some(block) = pages.blocks.block(&pages.table[page])? {
                status[page] = target.decompress(pages, page, &block);
            }
        }
        #[cfg(web_pages)]
        {
            let blocks = pages.table[job.pages.clone()].iter();
            let block_bytes = blocks.map(|entry| u64::from(entry.length)).sum();
            meter.done(job.n_bytes as u64, block_bytes)?;
        }
        Ok(())
    }
}

/// Returns the bytes of all pages together, after checking that the table and the page size agree with them.
pub(crate) fn check(pages: &Packed<'_>) -> Result<usize> {
    check_page_size(pages.page_size)?;
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
