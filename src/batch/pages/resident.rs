//! Compresses and decompresses pages that stay in GPU memory: only sizes and statuses cross the bus.

use crate::batch::pipeline::dictionary::ResidentDictionary;
use crate::batch::pipeline::job::JobBuffers;
use crate::batch::pipeline::plan::{self, Form};
use crate::batch::pipeline::ring::words;
use crate::batch::pipeline::status::block_errors;
use crate::gpu::{Backend, Buffer, GpuDevice, Recorder, Sized64, Waitable};
use crate::kernels::lz4::{MAX_PAGES_PER_JOB, decompress_job};
use crate::kernels::{Slot, dictionary};
use crate::lz4::{BlockError, Dictionary, Level, check_id, check_page_size};
use crate::{Error, Result, memory};

/// Compressed pages in GPU memory.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResidentPages {
    /// Parts in order; their number follows from the device's largest binding.
    pub parts: Vec<ResidentPart>,
    /// Bytes per page; the last page may be shorter.
    pub page_size: u32,
    /// Bytes of all pages together.
    pub n_bytes: u64,
    /// The id of the [`Dictionary`] that the pages were compressed with; 0 for none, or for one without an id.
    pub dictionary_id: u32,
    /// Time of the kernels by the device's clock, in nanoseconds; `None` without timestamps.
    pub kernel_ns: Option<u64>,
}

/// Compressed pages of one job.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResidentPart {
    /// Blocks, each at a multiple of 4 bytes; only the first [`packed_bytes`](Self::packed_bytes) are written.
    pub packed: Buffer,
    /// Bytes of blocks.
    pub packed_bytes: u64,
    /// Two words per page, as [`PageEntry::to_words`](crate::lz4::PageEntry::to_words) gives them.
    pub table: Buffer,
    /// Bytes of the pages.
    pub n_bytes: u64,
}

impl ResidentPart {
    /// Creates a part from existing buffers. The kernels check every table entry and block.
    #[must_use]
    pub const fn new(packed: Buffer, packed_bytes: u64, table: Buffer, n_bytes: u64) -> Self {
        Self {
            packed,
            packed_bytes,
            table,
            n_bytes,
        }
    }
}

impl ResidentPages {
    /// Creates pages from existing parts.
    #[must_use]
    pub fn new(parts: Vec<ResidentPart>, page_size: u32) -> Self {
        let n_bytes = parts.iter().map(|part| part.n_bytes);
        let n_bytes = n_bytes.fold(0, u64::saturating_add);
        Self {
            parts,
            page_size,
            n_bytes,
            dictionary_id: 0,
            kernel_ns: None,
        }
    }

    /// Returns the bytes of pages divided by the bytes of blocks and table, 8 bytes an entry; 1 for no pages.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let page_size = u64::from(self.page_size.max(1));
        let n_pages = |part: &ResidentPart| part.n_bytes.div_ceil(page_size) as f64;
        let stored: f64 = self
            .parts
            .iter()
            .map(|part| part.packed_bytes as f64 + 8.0 * n_pages(part))
            .sum();
        if stored == 0.0 {
            1.0
        } else {
            self.n_bytes as f64 / stored
        }
    }
}

/// Result of a decompression of resident pages.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResidentOutcome {
    /// The error of each page; a corrupt page is all zeros.
    pub errors: Vec<Option<BlockError>>,
    /// Time of the kernels by the device's clock, in nanoseconds; `None` without timestamps.
    pub kernel_ns: Option<u64>,
}

/// Compresses the first `n_bytes` of `pages`, which must be large enough for them rounded up to 4.
///
/// # Errors
/// [`Error::InvalidArgument`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
pub async fn compress_resident_async(
    device: &GpuDevice,
    pages: &Buffer,
    n_bytes: u64,
    page_size: u32,
    level: Level,
) -> Result<ResidentPages> {
    compress(device, pages, n_bytes, (page_size, level), None).await
}

impl ResidentDictionary {
    /// As [`compress_resident_async`], with this dictionary, which is on the same device.
    ///
    /// # Errors
    /// As [`compress_resident_async`].
    pub async fn compress_resident_async(
        &self,
        device: &GpuDevice,
        pages: &Buffer,
        n_bytes: u64,
        page_size: u32,
        level: Level,
    ) -> Result<ResidentPages> {
        compress(device, pages, n_bytes, (page_size, level), Some(self)).await
    }

    /// As [`decompress_resident_async`], for pages of this dictionary, which is on the same device, or of none.
    ///
    /// # Errors
    /// As [`decompress_resident_async`]; [`Error::WrongDictionary`] if the pages state another id.
    pub async fn decompress_resident_async(
        &self,
        device: &GpuDevice,
        compressed: &ResidentPages,
        pages: &Buffer,
    ) -> Result<ResidentOutcome> {
        decompress(device, compressed, pages, Some(self)).await
    }
}

async fn compress(
    device: &GpuDevice,
    pages: &Buffer,
    n_bytes: u64,
    (page_size, level): (u32, Level),
    dictionary: Option<&ResidentDictionary>,
) -> Result<ResidentPages> {
    check(pages, n_bytes, page_size)?;
    if let Some(reason) = level.cpu_only() {
        return Err(invalid("level", format!("{level:?}"), reason));
    }
    let form = Form {
        page_size,
        level,
        dictionary: dictionary.map(ResidentDictionary::dictionary),
    };
    let capabilities = device.capabilities();
    let plan = plan::compress(n_bytes, &form, MAX_PAGES_PER_JOB.into(), capabilities);
    let mut submitted = Vec::new();
    for range in plan {
        let job = form.job(range.end - range.start, capabilities)?;
        let mut given = vec![(Slot::Pages, pages, range.clone())];
        given.extend(dictionary.and_then(ResidentDictionary::given));
        let buffers = JobBuffers::allocate(device, &job, &given)?;
        let mut stream = device.stream();
        buffers.record(device, &job, &mut stream).await?;
        let keep = [Slot::Packed, Slot::Table, Slot::Places].map(|slot| buffers.get(slot).cloned());
        // Scratch buffers return to the pool here. The next job runs after this one and may take the same buffers.
        submitted.push((stream.submit()?, keep, range.end - range.start));
    }
    let mut result = ResidentPages {
        parts: Vec::new(),
        page_size,
        n_bytes,
        dictionary_id: form.dictionary.map_or(0, Dictionary::id),
        kernel_ns: Some(0),
    };
    for (submission, [packed, table, sums], n_bytes) in submitted {
        let kernel_ns = submission.wait_async().await?;
        result.kernel_ns = result
            .kernel_ns
            .zip(kernel_ns)
            .map(|(so_far, more)| so_far + more);
        let total = device.download_async(&sums?, 0..4).await?;
        let packed_bytes = 4 * words(&total)?.first().copied().map_or(0, u64::from);
        result.parts.push(ResidentPart {
            packed: packed?,
            packed_bytes,
            table: table?,
            n_bytes,
        });
    }
    Ok(result)
}

/// Decompresses `compressed` into `pages`, which must be large enough for its bytes rounded up to 4. Takes scratch memory of twice
/// the pages of each part, as compression does, or decompresses a part in several launches where that exceeds a limit.
///
/// # Errors
/// [`Error::InvalidArgument`], [`Error::OutOfMemory`], [`Error::DeviceLost`]; [`Error::DictionaryNeeded`] if the pages were compressed
/// with a dictionary. Corrupt pages are not an error here: see [`ResidentOutcome::errors`].
pub async fn decompress_resident_async(
    device: &GpuDevice,
    compressed: &ResidentPages,
    pages: &Buffer,
) -> Result<ResidentOutcome> {
    decompress(device, compressed, pages, None).await
}

async fn decompress(
    device: &GpuDevice,
    compressed: &ResidentPages,
    pages: &Buffer,
    resident: Option<&ResidentDictionary>,
) -> Result<ResidentOutcome> {
    let dictionary = resident.map(ResidentDictionary::dictionary);
    check_id(dictionary, compressed.dictionary_id)?;
    let dictionary_bytes = dictionary::n_bytes(dictionary);
    check(pages, compressed.n_bytes, compressed.page_size)?;
    check_parts(compressed, pages)?;
    let mut submitted = Vec::new();
    let mut start = 0;
    for part in &compressed.parts {
        let page = u64::from(compressed.page_size);
        let n_pages = part.n_bytes.div_ceil(page);
        let (page_size, capabilities) = (compressed.page_size, device.capabilities());
        let jobs = plan::decompress_resident(n_pages, page_size, dictionary_bytes, capabilities);
        for range in jobs {
            let bytes = range.start * page..part.n_bytes.min(range.end * page);
            let n_bytes = bytes.end - bytes.start;
            let job = decompress_job(
                n_bytes,
                page_size,
                part.packed_bytes,
                device.capabilities().limits(),
                dictionary_bytes,
            )?;
            let mut given = vec![
                (Slot::Packed, &part.packed, 0..part.packed.n_bytes()),
                (Slot::Table, &part.table, 8 * range.start..8 * range.end),
                (Slot::Pages, pages, start + bytes.start..start + bytes.end),
            ];
            given.extend(resident.and_then(ResidentDictionary::given));
            let buffers = JobBuffers::allocate(device, &job, &given)?;
            let mut stream = device.stream();
            buffers.record(device, &job, &mut stream).await?;
            let status = buffers.get(Slot::Status)?.clone();
            memory::reserve(&mut submitted, 1)?;
            submitted.push((stream.submit()?, status, range.end - range.start));
        }
        start += part.n_bytes;
    }
    let mut outcome = ResidentOutcome {
        errors: Vec::new(),
        kernel_ns: Some(0),
    };
    for (submission, status, n_pages) in submitted {
        let kernel_ns = submission.wait_async().await?;
        outcome.kernel_ns = outcome
            .kernel_ns
            .zip(kernel_ns)
            .map(|(so_far, more)| so_far + more);
        let codes = device.download_async(&status, 0..4 * n_pages).await?;
        block_errors(&words(&codes)?, &mut outcome.errors)?;
    }
    Ok(outcome)
}

/// Checks sizes from the caller against their buffers before any of them is added or multiplied.
fn check(pages: &Buffer, n_bytes: u64, page_size: u32) -> Result<()> {
    check_page_size(page_size)?;
    if !is_inside(n_bytes, pages) {
        let value = format!("{n_bytes} in a buffer of {}", pages.n_bytes());
        return Err(invalid("n_bytes", value, "at most the size of the buffer"));
    }
    Ok(())
}

/// Returns true if the buffer holds `n_bytes`, rounded up to whole words.
fn is_inside(n_bytes: u64, buffer: &Buffer) -> bool {
    n_bytes
        .checked_next_multiple_of(4)
        .is_some_and(|n| n <= buffer.n_bytes())
}

/// Rejects parts that exceed their buffers or do not add up to the pages.
fn check_parts(compressed: &ResidentPages, pages: &Buffer) -> Result<()> {
    let page_size = u64::from(compressed.page_size);
    let mut start = 0;
    for part in &compressed.parts {
        let n_pages = part.n_bytes.div_ceil(page_size);
        let is_table = n_pages
            .checked_mul(8)
            .is_some_and(|n| n <= part.table.n_bytes());
        let end = u64::checked_add(start, part.n_bytes).filter(|&end| is_inside(end, pages));
        let is_whole = start % page_size == 0 && part.packed_bytes > 0 && part.n_bytes > 0;
        match end {
            Some(end) if is_whole && is_table && is_inside(part.packed_bytes, &part.packed) => {
                start = end;
            }
            _ => {
                let value = format!("{} packed bytes of {}", part.packed_bytes, part.n_bytes);
                let expected =
                    "whole pages in every part but the last, none empty, each inside its buffers";
                return Err(invalid("parts", value, expected));
            }
        }
    }
    if start == compressed.n_bytes {
        return Ok(());
    }
    let value = format!("{} in parts of {start}", compressed.n_bytes);
    Err(invalid("n_bytes", value, "the bytes of all parts"))
}

fn invalid(name: &'static str, value: String, expected: &'static str) -> Error {
    Error::InvalidArgument {
        name,
        value,
        expected,
    }
}
