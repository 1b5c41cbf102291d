//! Compression and decompression of many pages, natively on all cores.

use std::mem::MaybeUninit;

use super::dictionary::{Dictionary, check_id};
use super::encode::Encoder;
#[cfg(not(target_arch = "wasm32"))]
use super::ordered::{append_shares, share_bytes};
use super::page::{BLOCK_ALIGNMENT, PageEntry};
use super::parse::{MAX_PAGE_SIZE, MIN_PAGE_SIZE, Parse};
use super::{BlockError, Level};
use crate::memory::{as_uninit, reserve, reserve_result, with_room};
use crate::{Error, Result};

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

/// Bytes of a table entry in the format of the kernels.
const ENTRY_BYTES: u64 = 8;
/// Reserved bytes from which on a fresh result gives back what it does not need.
const SHRUNK_BYTES: usize = 256 << 10;
/// Bytes of pages in one task of the thread pool.
#[cfg(not(target_arch = "wasm32"))]
const SHARE_BYTES: usize = 256 << 10;

/// A batch of compressed pages: the blocks, and a table with their places. The default is an empty batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedPages {
    /// The blocks in the order of their pages; each starts at a multiple of 4 bytes, padding is zeros.
    pub packed: Vec<u8>,
    /// One entry for each page.
    pub table: Vec<PageEntry>,
    /// Bytes of a page; the last page may be shorter.
    pub page_size: u32,
    /// Bytes of all pages.
    pub n_bytes: u64,
    /// The id of the [`Dictionary`] that the pages were compressed with; 0 for none, or for one without an id.
    pub dictionary_id: u32,
}

impl PackedPages {
    /// Returns the compression ratio: bytes of pages over bytes of blocks and table (8 bytes per entry). An empty batch
    /// has 1.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.table.is_empty() {
            return 1.0;
        }
        let stored = self.packed.len() as u64 + ENTRY_BYTES * self.table.len() as u64;
        self.n_bytes as f64 / stored as f64
    }

    /// Gives back memory that was reserved for the worst case. WebAssembly memory never shrinks.
    pub(crate) fn give_back(&mut self) {
        if cfg!(not(target_arch = "wasm32")) && self.packed.capacity() >= SHRUNK_BYTES {
            self.packed.shrink_to_fit();
        }
    }

    /// Removes all pages and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.packed.clear();
        self.table.clear();
        (self.page_size, self.n_bytes, self.dictionary_id) = (0, 0, 0);
    }

    /// Returns the bytes of all pages after checking the length of the table, and that this dictionary, or none, is that of the pages.
    pub(crate) fn checked_n_bytes(&self, dictionary: Option<&Dictionary>) -> Result<usize> {
        check_id(dictionary, self.dictionary_id)?;
        checked_bytes(self.n_bytes, self.page_size, self.table.len())
    }
}

/// Returns `n_bytes` if pages of `page_size` bytes need exactly `n_entries` table entries.
pub(crate) fn checked_bytes(n_bytes: u64, page_size: u32, n_entries: usize) -> Result<usize> {
    check_page_size(page_size)?;
    if n_bytes.div_ceil(u64::from(page_size)) != n_entries as u64 {
        let expected = "give one entry for each page of n_bytes";
        return Err(Error::invalid("table length", n_entries as u64, expected));
    }
    let expected = "give no more than fits in memory";
    usize::try_from(n_bytes).map_err(|_| Error::invalid("n_bytes", n_bytes, expected))
}

/// Compresses `bytes` in pages of `page_size` bytes: 4096, 8192, 16384, 32768 or 65536. The last page may be
/// shorter.
///
/// # Errors
/// [`Error::InvalidArgument`] if `page_size` is none of these; [`Error::OutOfMemory`].
pub fn compress_pages(bytes: &[u8], page_size: u32, level: Level) -> Result<PackedPages> {
    let mut pages = PackedPages::default();
    compress_pages_into(bytes, page_size, level, &mut pages)?;
    pages.give_back();
    Ok(pages)
}

/// As [`compress_pages`], into the memory of an earlier result, whose contents are overwritten. `pages.packed` grows to the
/// bytes of the worst case, those of `bytes`; the system makes only what is written resident.
///
/// # Errors
/// As [`compress_pages`]; `pages` is empty then.
pub fn compress_pages_into(
    bytes: &[u8],
    page_size: u32,
    level: Level,
    pages: &mut PackedPages,
) -> Result<()> {
    compress_with(bytes, page_size, level, None, pages)
}

/// As [`compress_pages_into`]. If there is a dictionary, it stands before each page.
pub(crate) fn compress_with(
    bytes: &[u8],
    page_size: u32,
    level: Level,
    dictionary: Option<&Dictionary>,
    pages: &mut PackedPages,
) -> Result<()> {
    pages.clear();
    check_page_size(page_size)?;
    let parse = Parse::new(page_size, level)?;
    reserve_result(&mut pages.packed, most_packed(bytes.len()))?;
    reserve(&mut pages.table, bytes.len().div_ceil(page_size as usize))?;
    compress_shares(
        bytes,
        &parse,
        dictionary,
        &mut pages.packed,
        &mut pages.table,
    )
    .inspect_err(|_| pages.clear())?;
    (pages.page_size, pages.n_bytes) = (page_size, bytes.len() as u64);
    pages.dictionary_id = dictionary.map_or(0, Dictionary::id);
    Ok(())
}

/// Returns the most bytes of the blocks of `n_bytes`: a block is no longer than its page, and only the last has padding.
const fn most_packed(n_bytes: usize) -> usize {
    n_bytes.saturating_add(BLOCK_ALIGNMENT as usize - 1)
}

/// Appends the blocks and entries of `bytes`, for which there is room.
fn compress_shares(
    bytes: &[u8],
    parse: &Parse,
    dictionary: Option<&Dictionary>,
    packed: &mut Vec<u8>,
    table: &mut Vec<PageEntry>,
) -> Result<()> {
    let new = || Encoder::with_dictionary(parse, dictionary.cloned());
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(share) = share_bytes(bytes.len(), parse.page_size() as usize) {
        let make = |encoder: &mut Encoder, share: &[u8], packed: &mut Vec<u8>| {
            let mut table = with_room(share.len().div_ceil(parse.page_size() as usize))?;
            compress_share(encoder, share, packed, &mut table);
            Ok(table)
        };
        for (start, entries) in append_shares(bytes, share, || Ok(new()), make, packed)? {
            table.extend(entries.iter().map(|entry| entry.behind(start as u64)));
        }
        return Ok(());
    }
    compress_share(&mut new(), bytes, packed, table);
    Ok(())
}

/// Appends the blocks and entries of some pages, for which there is room.
fn compress_share(
    encoder: &mut Encoder,
    bytes: &[u8],
    packed: &mut Vec<u8>,
    table: &mut Vec<PageEntry>,
) {
    let pages = bytes.chunks(encoder.parse().page_size() as usize);
    table.extend(pages.map(|page| encoder.append_page(page, packed)));
}

impl Encoder {
    /// Appends the block of a page, padded to a multiple of [`BLOCK_ALIGNMENT`]; returns its entry.
    pub(crate) fn append_page(&mut self, page: &[u8], packed: &mut Vec<u8>) -> PageEntry {
        let offset = packed.len();
        let kind = self.append_block(page, packed);
        let length = (packed.len() - offset) as u32;
        packed.resize(packed.len().next_multiple_of(BLOCK_ALIGNMENT as usize), 0);
        PageEntry {
            offset: offset as u64,
            length,
            kind,
        }
    }
}

/// Decompresses all pages.
///
/// # Errors
/// [`Error::CorruptPage`] for the first page that fails; [`Error::InvalidArgument`] if the table and `n_bytes`
/// disagree; [`Error::DictionaryNeeded`] if the pages were compressed with a dictionary; [`Error::OutOfMemory`].
pub fn decompress_pages(pages: &PackedPages) -> Result<Vec<u8>> {
    let (bytes, status) = decompress_pages_status(pages)?;
    all_sound(&status).map(|()| bytes)
}

/// As [`decompress_pages`], to the start of `out`; bytes of `out` behind the pages are not written.
///
/// # Errors
/// As [`decompress_pages`], also after which the other pages are in `out`; [`Error::OutputTooSmall`] if `out` is shorter than
/// the pages, of which none is written then.
pub fn decompress_pages_into(pages: &PackedPages, out: &mut [u8]) -> Result<()> {
    all_sound(&decompress_pages_status_into(pages, out)?)
}

/// Decompresses all pages and returns the error of each; a page that fails is all zeros and does not affect others.
///
/// # Errors
/// As [`decompress_pages`], but for pages that fail.
pub fn decompress_pages_status(pages: &PackedPages) -> Result<(Vec<u8>, Vec<Option<BlockError>>)> {
    decompress_with(pages, None)
}

/// As [`decompress_pages_status`]. If there is a dictionary, it stands before each page.
pub(crate) fn decompress_with(
    pages: &PackedPages,
    dictionary: Option<&Dictionary>,
) -> Result<(Vec<u8>, Vec<Option<BlockError>>)> {
    let n_bytes = pages.checked_n_bytes(dictionary)?;
    let mut bytes = Vec::new();
    reserve_result(&mut bytes, n_bytes)?;
    let room = &mut bytes.spare_capacity_mut()[..n_bytes];
    let status = decompress_all(pages, dictionary, room)?;
    // SAFETY: the capacity is at least `n_bytes`, and `decompress_all` has initialised as many.
    unsafe { bytes.set_len(n_bytes) };
    Ok((bytes, status))
}

/// As [`decompress_pages_status`], to the start of `out`; bytes of `out` behind the pages are not written.
///
/// # Errors
/// As [`decompress_pages_status`]; [`Error::OutputTooSmall`] if `out` is shorter than the pages. Nothing is written then.
pub fn decompress_pages_status_into(
    pages: &PackedPages,
    out: &mut [u8],
) -> Result<Vec<Option<BlockError>>> {
    decompress_with_into(pages, None, out)
}

fn decompress_with_into(
    pages: &PackedPages,
    dictionary: Option<&Dictionary>,
    out: &mut [u8],
) -> Result<Vec<Option<BlockError>>> {
    let room = check_room(out, pages.checked_n_bytes(dictionary)?)?;
    // SAFETY: `decompress_all` writes only initialised bytes.
    decompress_all(pages, dictionary, unsafe { as_uninit(room) })
}

/// Decompresses checked pages to memory of their length, all of which is initialised then. Writes only initialised bytes.
/// Returns the error of each page.
pub(crate) fn decompress_all(
    pages: &PackedPages,
    dictionary: Option<&Dictionary>,
    out: &mut [MaybeUninit<u8>],
) -> Result<Vec<Option<BlockError>>> {
    let decompress = |entry: &PageEntry, page: &mut [MaybeUninit<u8>]| {
        entry.decompress_uninit(&pages.packed, page, dictionary)
    };
    decompress_each(&pages.table, pages.page_size, out, decompress)
}

/// Calls `decompress` for each page, on all cores natively, and returns the errors.
pub(crate) fn decompress_each(
    table: &[PageEntry],
    page_size: u32,
    out: &mut [MaybeUninit<u8>],
    decompress: impl Fn(&PageEntry, &mut [MaybeUninit<u8>]) -> Result<(), BlockError> + Sync,
) -> Result<Vec<Option<BlockError>>> {
    let page_size = page_size as usize;
    let decompress =
        |(page, entry): (&mut [MaybeUninit<u8>], &PageEntry)| decompress(entry, page).err();
    let mut status = with_room(table.len())?;
    #[cfg(not(target_arch = "wasm32"))]
    if out.len() > SHARE_BYTES {
        out.par_chunks_mut(page_size)
            .zip(table)
            .with_min_len((SHARE_BYTES / page_size).max(1))
            .map(decompress)
            .collect_into_vec(&mut status);
        return Ok(status);
    }
    status.extend(out.chunks_mut(page_size).zip(table).map(decompress));
    Ok(status)
}

/// Pages with a dictionary.
impl Dictionary {
    /// As [`compress_pages`].
    ///
    /// # Errors
    /// As [`compress_pages`].
    pub fn compress_pages(
        &self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<PackedPages> {
        let mut pages = PackedPages::default();
        self.compress_pages_into(bytes, page_size, level, &mut pages)?;
        pages.give_back();
        Ok(pages)
    }

    /// As [`compress_pages_into`].
    ///
    /// # Errors
    /// As [`compress_pages_into`].
    pub fn compress_pages_into(
        &self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
        pages: &mut PackedPages,
    ) -> Result<()> {
        compress_with(bytes, page_size, level, Some(self), pages)
    }

    /// As [`decompress_pages`], for pages of this dictionary or of none.
    ///
    /// # Errors
    /// As [`decompress_pages`]; [`Error::WrongDictionary`] if the pages state another id.
    pub fn decompress_pages(&self, pages: &PackedPages) -> Result<Vec<u8>> {
        let (bytes, status) = self.decompress_pages_status(pages)?;
        all_sound(&status).map(|()| bytes)
    }

    /// As [`decompress_pages_into`], for pages of this dictionary or of none.
    ///
    /// # Errors
    /// As [`decompress_pages_into`]; [`Error::WrongDictionary`] if the pages state another id, and nothing is written then.
    pub fn decompress_pages_into(&self, pages: &PackedPages, out: &mut [u8]) -> Result<()> {
        all_sound(&self.decompress_pages_status_into(pages, out)?)
    }

    /// As [`decompress_pages_status`], for pages of this dictionary or of none.
    ///
    /// # Errors
    /// As [`decompress_pages_status`]; [`Error::WrongDictionary`] if the pages state another id.
    pub fn decompress_pages_status(
        &self,
        pages: &PackedPages,
    ) -> Result<(Vec<u8>, Vec<Option<BlockError>>)> {
        decompress_with(pages, Some(self))
    }

    /// As [`decompress_pages_status_into`], for pages of this dictionary or of none.
    ///
    /// # Errors
    /// As [`decompress_pages_status_into`]; [`Error::WrongDictionary`] if the pages state another id, and nothing is written then.
    pub fn decompress_pages_status_into(
        &self,
        pages: &PackedPages,
        out: &mut [u8],
    ) -> Result<Vec<Option<BlockError>>> {
        decompress_with_into(pages, Some(self), out)
    }
}

/// Returns the first `n_bytes` of `out`, or the error that it is shorter.
pub(crate) fn check_room(out: &mut [u8], n_bytes: usize) -> Result<&mut [u8]> {
    let (needed, actual) = (n_bytes as u64, out.len() as u64);
    out.get_mut(..n_bytes)
        .ok_or(Error::OutputTooSmall { needed, actual })
}

/// Returns the error of the first page that has one.
pub(crate) fn all_sound(status: &[Option<BlockError>]) -> Result<()> {
    let mut errors = status.iter().enumerate();
    match errors.find_map(|(page, error)| Some((page, (*error)?))) {
        Some((page, source)) => Err(Error::CorruptPage { page, source }),
        None => Ok(()),
    }
}

/// Rejects page sizes that batches and kernels do not support.
pub(crate) fn check_page_size(page_size: u32) -> Result<()> {
    if page_size.is_power_of_two() && (MIN_PAGE_SIZE..=MAX_PAGE_SIZE).contains(&page_size) {
        return Ok(());
    }
    let expected = "give 4096, 8192, 16384, 32768 or 65536 bytes";
    Err(Error::invalid("page size", page_size.into(), expected))
}
