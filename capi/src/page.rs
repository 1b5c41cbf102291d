//! Batches of memory pages: blocks in one buffer, and a table with their places.

use std::ffi::c_void;

use pagepress::Error;
use pagepress::lz4::{BlockError, PackedPages, PageEntry, PageKind};

use crate::call::{Failure, call};
use crate::context::{Work, pp_context, with};
use crate::memory::{elements, elements_mut, give, input, output, variable};
use crate::options;
use crate::status::pp_status;

/// Kinds of blocks, for `pp_page_entry`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum pp_page_kind {
    /// One LZ4 block.
    PP_PAGE_LZ4 = 0,
    /// The page itself, because LZ4 does not make it smaller.
    PP_PAGE_STORED = 1,
    /// Eight bytes that are repeated over the page.
    PP_PAGE_FILL = 2,
}

/// Place and kind of the block of a page.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct pp_page_entry {
    /// Start of the block in bytes, a multiple of 4.
    pub offset: u64,
    /// Length of the block in bytes.
    pub length: u32,
    /// A value of `pp_page_kind`.
    pub kind: u32,
}

impl From<&PageEntry> for pp_page_entry {
    fn from(entry: &PageEntry) -> Self {
        let kind = match entry.kind {
            PageKind::Lz4 => pp_page_kind::PP_PAGE_LZ4,
            PageKind::Stored => pp_page_kind::PP_PAGE_STORED,
            PageKind::Fill(_) => pp_page_kind::PP_PAGE_FILL,
        };
        Self {
            offset: entry.offset,
            length: entry.length,
            kind: kind as u32,
        }
    }
}

impl pp_page_entry {
    /// Returns the entry of the crate; `packed` has the word of a fill.
    fn entry(&self, page: usize, packed: &[u8]) -> Result<PageEntry, Failure> {
        let word = || {
            let start = usize::try_from(self.offset).ok()?;
            Some(u64::from_le_bytes(*packed.get(start..)?.first_chunk()?))
        };
        let source = BlockError::BadTableEntry;
        let kind = match self.kind {
            0 => PageKind::Lz4,
            1 => PageKind::Stored,
            2 => PageKind::Fill(word().unwrap_or(0)),
            _ => return Err(Error::CorruptPage { page, source }.into()),
        };
        Ok(PageEntry {
            offset: self.offset,
            length: self.length,
            kind,
        })
    }
}

/// Returns the number of pages of `size` bytes: that of the table's entries; 0 if `page_size` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn pp_page_count(size: usize, page_size: u32) -> usize {
    match page_size {
        0 => 0,
        page_size => size.div_ceil(page_size as usize),
    }
}

/// Returns the most bytes of the blocks of `size` bytes of pages; 0 if that exceeds `SIZE_MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn pp_compress_pages_bound(size: usize) -> usize {
    // A block is no longer than its page, and only the last page can need padding to a multiple of 4.
    size.checked_add(3).unwrap_or(0)
}

/// Compresses pages of `page_size` bytes: 4096, 8192, 16384, 32768 or 65536. The last page may be shorter. `context` may be null for the
/// CPU. `entries[i]` is the place of page `i` in `target`, `*written` the bytes of all blocks; 0 after an error.
///
/// # Safety
/// `context` is null or was not closed; `source` has `source_size` bytes, `target` has `capacity` bytes, `entries` has `n_entries`
/// elements, and both overlap nothing else; `written` points to a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compress_pages(
    context: *const pp_context,
    source: *const c_void,
    source_size: usize,
    page_size: u32,
    level: u32,
    target: *mut c_void,
    capacity: usize,
    written: *mut usize,
    entries: *mut pp_page_entry,
    n_entries: usize,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (written, bytes, out, entries) = unsafe {
            let written = variable(written, "written")?;
            *written = 0;
            (
                written,
                input(source, source_size, "source")?,
                output(target, capacity, "target")?,
                elements_mut(entries, n_entries, "entries")?,
            )
        };
        let n_pages = pp_page_count(source_size, page_size);
        let entries = entries.get_mut(..n_pages).ok_or_else(|| {
            Failure::argument(format!(
                "n_entries is {n_entries}; give an entry for each of {n_pages} pages"
            ))
        })?;
        let compress = |work: &mut Work| {
            let level = options::level(level, work.codec.auto_level(false))?;
            let pages = &mut work.pages;
            work.codec
                .compress_pages_into(bytes, page_size, level, pages)?;
            give(&pages.packed, out, written)?;
            for (entry, page) in entries.iter_mut().zip(&pages.table) {
                *entry = page.into();
            }
            Ok(())
        };
        // SAFETY: the caller's guarantee for `context`.
        unsafe { with(context, compress) }
    })
}

/// Decompresses pages to `target`, which has exactly their bytes. If `page_errors` is not null, `page_errors[i]` is 0 if page `i` is valid and
/// else the reason, a number above 0; then corrupt pages, which become zeros, are no error of the call. If it is null, the
/// first corrupt page is `PP_CORRUPT_PAGE`.
///
/// # Safety
/// `context` is null or was not closed; `source` has `source_size` bytes, `entries` has `n_entries` elements; `target` has
/// `target_size` bytes, `page_errors` is null or has `n_entries` elements, and both overlap nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompress_pages(
    context: *const pp_context,
    source: *const c_void,
    source_size: usize,
    entries: *const pp_page_entry,
    n_entries: usize,
    page_size: u32,
    target: *mut c_void,
    target_size: usize,
    page_errors: *mut u32,
) -> pp_status {
    call(|| {
        // SAFETY: the caller's guarantees for these arguments.
        let (packed, entries, out, errors) = unsafe {
            let n_errors = if page_errors.is_null() { 0 } else { n_entries };
            (
                input(source, source_size, "source")?,
                elements(entries, n_entries, "entries")?,
                output(target, target_size, "target")?,
                elements_mut(page_errors, n_errors, "page_errors")?,
            )
        };
        let decompress = |work: &mut Work| {
            let pages = &mut work.pages;
            set_pages(pages, packed, entries, page_size, target_size)?;
            let (status, _) = work.codec.decompress_pages_status_into(pages, out)?;
            for (error, page) in errors.iter_mut().zip(&status) {
                *error = page.map_or(0, |reason| reason as u32);
            }
            let first = status
                .iter()
                .enumerate()
                .find_map(|(page, error)| Some((page, (*error)?)));
            match first {
                Some((page, source)) if errors.is_empty() => {
                    Err(Error::CorruptPage { page, source }.into())
                }
                _ => Ok(()),
            }
        };
        // SAFETY: the caller's guarantee for `context`.
        unsafe { with(context, decompress) }
    })
}

/// Copies the caller's blocks and table to the memory of a context, since the crate's batches own theirs.
fn set_pages(
    pages: &mut PackedPages,
    packed: &[u8],
    entries: &[pp_page_entry],
    page_size: u32,
    n_bytes: usize,
) -> Result<(), Failure> {
    pages.packed.clear();
    pages.table.clear();
    let out_of_memory = |requested: usize| Error::OutOfMemory {
        requested: requested as u64,
    };
    let room = pages.packed.try_reserve(packed.len());
    room.map_err(|_| out_of_memory(packed.len()))?;
    let table = pages.table.try_reserve(entries.len());
    table.map_err(|_| out_of_memory(size_of_val(entries)))?;
    pages.packed.extend_from_slice(packed);
    for (page, entry) in entries.iter().enumerate() {
        pages.table.push(entry.entry(page, packed)?);
    }
    (pages.page_size, pages.n_bytes, pages.dictionary_id) = (page_size, n_bytes as u64, 0);
    Ok(())
}
