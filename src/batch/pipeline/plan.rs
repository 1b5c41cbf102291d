//! Splits work into jobs that fit the device's limits. Pure functions.

use std::borrow::Cow;
use std::ops::Range;

use super::source::Source;
use crate::gpu::Capabilities;
use crate::kernels::lz4::{MAX_PAGES_PER_JOB, compress_job, decompress_job};
use crate::kernels::{Job, SLICE_ALIGNMENT, dictionary, pace};
use crate::lz4::{self, Dictionary, Level, PackedPages, PageEntry};
use crate::{Result, memory};

/// Returns the worst-case bytes of an LZ4 block of a page: all literals with their length bytes, rounded up to words.
pub(crate) fn worst_block_bytes(page_size: u32) -> u64 {
    (u64::from(page_size) + u64::from(page_size) / 255 + 16).next_multiple_of(4)
}

/// Limit of a job's bytes: kernels count bytes in 32 bits.
const MAX_JOB_BYTES: u64 = u32::MAX as u64;
/// Most bytes of resident pages that a job decompresses. Its scratch buffer is twice as long. In a browser that is half of the pool
/// of free buffers: a larger one would be created anew and cleared for each call, which halves the speed.
const MAX_RESIDENT_BYTES: u64 = if cfg!(target_arch = "wasm32") {
    256 << 20
} else {
    MAX_JOB_BYTES
};

/// Number of jobs that must fit the device's free memory at once: those in flight, and the buffers that pools retain.
const JOBS_IN_MEMORY: u64 = 8;

/// Returns true if every buffer of `job` is within the device's limits and several such jobs fit its memory.
fn fits(job: &Job, capabilities: &Capabilities) -> bool {
    let limit = capabilities
        .max_binding_bytes
        .min(capabilities.max_buffer_bytes);
    let total: u64 = job.buffers.iter().map(|&(_, n_bytes)| n_bytes).sum();
    let free = capabilities.free_memory_bytes.unwrap_or(u64::MAX);
    job.buffers.iter().all(|&(_, n_bytes)| n_bytes <= limit) && total <= free / JOBS_IN_MEMORY
}

/// Returns the largest number of pages up to `most` for which `job` fits, by bisection; at least 1.
fn most_pages(most: u64, capabilities: &Capabilities, job: impl Fn(u64) -> Result<Job>) -> u64 {
    let mut fitting = 1;
    let mut too_many = most.clamp(1, u64::from(MAX_PAGES_PER_JOB)) + 1;
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        if job(middle).is_ok_and(|job| fits(&job, capabilities)) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    fitting
}

/// The form of compressed pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    pub page_size: u32,
    pub level: Level,
    /// Stands before each page.
    pub dictionary: Option<&'a Dictionary>,
}

impl Form<'_> {
    /// Returns the job that compresses `n_bytes` of pages.
    pub(in crate::batch) fn job(&self, n_bytes: u64, capabilities: &Capabilities) -> Result<Job> {
        let dictionary_bytes = dictionary::n_bytes(self.dictionary);
        compress_job(
            n_bytes,
            self.page_size,
            self.level,
            capabilities.limits(),
            dictionary_bytes,
        )
    }

    /// Compresses pages on the CPU, to `pages`, whose contents are overwritten.
    pub(in crate::batch) fn compress_on_cpu(
        &self,
        bytes: &[u8],
        pages: &mut PackedPages,
    ) -> Result<()> {
        lz4::compress_with(bytes, self.page_size, self.level, self.dictionary, pages)
    }
}

/// Returns the byte ranges of the jobs that compress `n_bytes`: whole pages except at the end, at most `batch_pages` pages
/// each.
pub(crate) fn compress(
    n_bytes: u64,
    form: &Form<'_>,
    batch_pages: u64,
    capabilities: &Capabilities,
) -> impl Iterator<Item = Range<u64>> + use<> {
    let page = u64::from(form.page_size);
    let in_time =
        pace::compressed_bytes(capabilities.longest_submission, form.level, form.page_size);
    let most = batch_pages
        .min(n_bytes.div_ceil(page))
        .min(MAX_JOB_BYTES.min(in_time) / page);
    let job = |n: u64| form.job(n * page, capabilities);
    let pages = most_pages(most, capabilities, job);
    cut(n_bytes, pages * page)
}

/// Returns the page ranges of the jobs that decompress `pages`, at most `batch_pages` pages each.
pub(crate) fn decompress(
    pages: &Packed<'_>,
    batch_pages: u64,
    capabilities: &Capabilities,
) -> impl Iterator<Item = Range<u64>> + use<> {
    let (page_size, n_pages) = (pages.page_size, pages.table.len() as u64);
    let job = |n: u64| {
        let n_bytes = n * u64::from(page_size);
        pages.job(n_bytes, n * worst_block_bytes(page_size), capabilities)
    };
    let in_time = pace::decompressed_bytes(capabilities.longest_submission);
    let most = batch_pages
        .min(n_pages)
        .min(MAX_JOB_BYTES.min(in_time) / worst_block_bytes(page_size));
    cut(n_pages, most_pages(most, capabilities, job))
}

/// Returns the page ranges of the jobs that decompress `n_pages` in device memory, so that their scratch memory is within the
/// device's limits. Ranges start at multiples of 32 pages, where the table of a part may be cut.
pub(crate) fn decompress_resident(
    n_pages: u64,
    page_size: u32,
    dictionary_bytes: u32,
    capabilities: &Capabilities,
) -> impl Iterator<Item = Range<u64>> + use<> {
    let limits = capabilities.limits();
    let job = |n: u64| {
        let n_bytes = n * u64::from(page_size);
        decompress_job(n_bytes, page_size, 4, limits, dictionary_bytes)
    };
    let in_time = pace::decompressed_bytes(capabilities.longest_submission);
    let most = n_pages.min(MAX_RESIDENT_BYTES.min(in_time) / u64::from(page_size));
    let step = match most_pages(most, capabilities, job) {
        all if all == n_pages => all,
        some => (some / PAGES_PER_CUT * PAGES_PER_CUT).max(PAGES_PER_CUT),
    };
    cut(n_pages, step)
}

/// Pages whose entries in a table take [`SLICE_ALIGNMENT`] bytes.
const PAGES_PER_CUT: u64 = SLICE_ALIGNMENT / 8;

fn cut(n: u64, step: u64) -> impl Iterator<Item = Range<u64>> {
    (0..n.div_ceil(step)).map(move |i| i * step..((i + 1) * step).min(n))
}

/// Pages to decompress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub blocks: Source<'a>,
    pub table: &'a [PageEntry],
    pub page_size: u32,
    pub n_bytes: u64,
    /// Stands before each page.
    pub dictionary: Option<&'a Dictionary>,
}

impl<'a> Packed<'a> {
    /// Returns pages in host memory, to decompress with a dictionary or without one.
    pub(crate) fn new(pages: &'a PackedPages, dictionary: Option<&'a Dictionary>) -> Self {
        Self {
            blocks: Source::Bytes(&pages.packed),
            table: &pages.table,
            page_size: pages.page_size,
            n_bytes: pages.n_bytes,
            dictionary,
        }
    }

    /// Returns the job that decompresses `n_bytes` of the pages from `packed_bytes` of blocks.
    pub(in crate::batch) fn job(
        &self,
        n_bytes: u64,
        packed_bytes: u64,
        capabilities: &Capabilities,
    ) -> Result<Job> {
        let dictionary_bytes = dictionary::n_bytes(self.dictionary);
        decompress_job(
            n_bytes,
            self.page_size,
            packed_bytes,
            capabilities.limits(),
            dictionary_bytes,
        )
    }

    /// Copies the first pages, about `n_bytes` in all, with their blocks; `None` if the blocks are in device memory.
    pub(in crate::batch) fn first(&self, n_bytes: usize) -> Result<Option<PackedPages>> {
        let n_pages = (n_bytes / self.page_size as usize).clamp(1, self.table.len().max(1));
        let table = &self.table[..n_pages.min(self.table.len())];
        if self.blocks.is_frame() {
            return self.first_of_frame(table).map(Some);
        }
        let end = |entry: &PageEntry| entry.offset.saturating_add(u64::from(entry.length));
        let end = table.iter().map(end).max().unwrap_or(0);
        let end = usize::try_from(end.min(self.blocks.n_bytes())).unwrap_or(usize::MAX);
        let Some(packed) = self.blocks.get(0..end)? else {
            return Ok(None);
        };
        let packed = match packed {
            Cow::Borrowed(packed) => memory::copied(packed)?,
            Cow::Owned(packed) => packed,
        };
        Ok(Some(PackedPages {
            packed,
            table: memory::copied(table)?,
            page_size: self.page_size,
            n_bytes: self
                .n_bytes
                .min(table.len() as u64 * u64::from(self.page_size)),
            dictionary_id: 0,
        }))
    }
}

impl Packed<'_> {
    /// Copies the pages of `table`, the first ones, as a batch, in which blocks start at multiples of 4.
    fn first_of_frame(&self, table: &[PageEntry]) -> Result<PackedPages> {
        let mut pages = PackedPages {
            page_size: self.page_size,
            n_bytes: table.len() as u64 * u64::from(self.page_size),
            ..PackedPages::default()
        };
        pages.n_bytes = pages.n_bytes.min(self.n_bytes);
        memory::reserve(&mut pages.table, table.len())?;
        for entry in table {
            let block = self.blocks.block(entry)?.unwrap_or_default();
            let offset = pages.packed.len() as u64;
            pages.table.push(PageEntry { offset, ..*entry });
            memory::extend(&mut pages.packed, &block)?;
            let padded = pages.packed.len().next_multiple_of(4);
            pages.packed.resize(padded, 0);
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        for (n, step) in [(1, 1), (10, 3), (9, 3), (5, 100)] {
            let ranges: Vec<Range<u64>> = cut(n, step).collect();
            assert_eq!(ranges.first().map(|r| r.start), Some(0));
            assert_eq!(ranges.last().map(|r| r.end), Some(n));
            assert!(ranges.windows(2).all(|w| w[0].end == w[1].start));
            assert!(ranges.iter().all(|r| r.end - r.start <= step));
        }
        assert_eq!(cut(0, 5).count(), 0);
    }

    /// Returns the capabilities of a device with tiny buffers.
    fn limited() -> Capabilities {
        Capabilities {
            max_binding_bytes: 1000,
            max_buffer_bytes: 2000,
            max_workgroup_bytes: 0,
            max_workgroup_invocations: 0,
            max_grid: 0,
            max_storage_buffers: 0,
            subgroups: false,
            int64: false,
            float16: false,
            cooperative_matrices: false,
            bfloat16_matrices: false,
            matrix_elements: false,
            warpgroup_matrices: false,
            tf32_matrices: false,
            timestamps: false,
            copy_timestamps: false,
            spirv_passthrough: false,
            shares_memory: false,
            longest_submission: None,
            free_memory_bytes: None,
            compute_units: None,
            clears_workgroups: false,
            min_subgroup: 0,
            registers: crate::kernels::Registers::Usual,
        }
    }

    #[test]
    fn jobs_are_short_on_slow_devices() {
        let form = Form {
            page_size: 65_536,
            level: Level::High,
            dictionary: None,
        };
        let n_bytes = 1 << 30;
        let longest = |capabilities: &Capabilities| {
            let jobs = compress(n_bytes, &form, 1 << 20, capabilities);
            jobs.map(|job| job.end - job.start).max()
        };
        let any = Capabilities {
            max_binding_bytes: 1 << 40,
            max_buffer_bytes: 1 << 40,
            ..limited()
        };
        let slow = Capabilities {
            longest_submission: Some(pace::LONGEST_SUBMISSION),
            ..any.clone()
        };
        assert_eq!(longest(&any), Some(n_bytes));
        assert_eq!(longest(&slow), Some(50_000_000 / 65_536 * 65_536));
        let resident = decompress_resident(1 << 16, 65_536, 0, &slow).collect::<Vec<_>>();
        assert!(resident.len() > 1 && resident[0].end % PAGES_PER_CUT == 0);
        assert!(resident[0].end * 65_536 <= 3_000_000_000);
    }

    #[test]
    fn the_largest_fitting_number_of_pages_is_found() {
        let capabilities = limited();
        let job = |n: u64| {
            Ok(Job {
                buffers: vec![(crate::kernels::Slot::Pages, n * 10)],
                launches: Vec::new(),
            })
        };
        assert_eq!(most_pages(1 << 40, &capabilities, job), 100);
        assert_eq!(most_pages(7, &capabilities, job), 7);
        assert_eq!(most_pages(0, &capabilities, job), 1);
        let short_of_memory = Capabilities {
            free_memory_bytes: Some(8 * 250),
            ..capabilities
        };
        assert_eq!(most_pages(1 << 40, &short_of_memory, job), 25);
    }
}
