//! Compression and decompression of many pages, natively on all cores.

use super::encode::Encoder;
use super::page::{BLOCK_ALIGNMENT, PageEntry};
use super::parse::{MAX_PAGE_SIZE, MIN_PAGE_SIZE, Parse};
use super::{BlockError, Level};
use crate::memory::{reserve, with_room, zeros};
use crate::{Error, Result};

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

/// Bytes of a table entry in the format of the kernels.
const ENTRY_BYTES: u64 = 8;
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

    /// Returns the bytes of all pages after checking the length of the table.
    fn checked_n_bytes(&self) -> Result<usize> {
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
    check_page_size(page_size)?;
    let parse = Parse::new(page_size, level)?;
    let (packed, table) = compress_shares(bytes, &parse)?;
    Ok(PackedPages {
        packed,
        table,
        page_size,
        n_bytes: bytes.len() as u64,
    })
}

#[cfg(target_arch = "wasm32")]
fn compress_shares(bytes: &[u8], parse: &Parse) -> Result<(Vec<u8>, Vec<PageEntry>)> {
    compress_share(&mut Encoder::new(parse), bytes)
}

#[cfg(not(target_arch = "wasm32"))]
fn compress_shares(bytes: &[u8], parse: &Parse) -> Result<(Vec<u8>, Vec<PageEntry>)> {
    let share_bytes = SHARE_BYTES.max(parse.page_size() as usize);
    if bytes.len() <= share_bytes {
        return compress_share(&mut Encoder::new(parse), bytes);
    }
    let shares: Vec<_> = bytes
        .par_chunks(share_bytes)
        .map_init(|| Encoder::new(parse), compress_share)
        .collect::<Result<_>>()?;
    let mut start = 0;
    let mut table = Vec::new();
    reserve(&mut table, bytes.len().div_ceil(parse.page_size() as usize))?;
    for (packed, entries) in &shares {
        table.extend(entries.iter().map(|entry| entry.behind(start)));
        start += packed.len() as u64;
    }
    let packed = join(shares.iter().map(|(packed, _)| packed.as_slice()).collect())?;
    Ok((packed, table))
}

/// Returns the blocks and entries of some pages; offsets are relative to the first block.
fn compress_share(encoder: &mut Encoder, bytes: &[u8]) -> Result<(Vec<u8>, Vec<PageEntry>)> {
    let page_size = encoder.parse().page_size() as usize;
    let mut packed = Vec::new();
    reserve(&mut packed, bytes.len())?;
    let mut table = with_room(bytes.len().div_ceil(page_size))?;
    let pages = bytes.chunks(page_size);
    table.extend(pages.map(|page| encoder.append_page(page, &mut packed)));
    Ok((packed, table))
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

/// Concatenates `pieces`. All cores copy, since first-touch page faults dominate a large copy.
#[cfg(not(target_arch = "wasm32"))]
fn join(pieces: Vec<&[u8]>) -> Result<Vec<u8>> {
    let n_bytes = pieces.iter().map(|piece| piece.len()).sum();
    let mut joined = Vec::new();
    reserve(&mut joined, n_bytes)?;
    let mut room = joined.spare_capacity_mut();
    let mut places = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (place, rest) = room.split_at_mut(piece.len());
        places.push((place, piece));
        room = rest;
    }
    places.into_par_iter().for_each(|(place, piece)| {
        place.write_copy_of_slice(piece);
    });
    // SAFETY: the capacity is at least `n_bytes`. The pieces, `n_bytes` in all, were written to its start without gaps:
    // a piece of another length than its place would have panicked.
    unsafe { joined.set_len(n_bytes) };
    Ok(joined)
}

/// Decompresses all pages.
///
/// # Errors
/// [`Error::CorruptPage`] for the first page that fails; [`Error::InvalidArgument`] if the table and `n_bytes`
/// disagree.
pub fn decompress_pages(pages: &PackedPages) -> Result<Vec<u8>> {
    let (bytes, status) = decompress_pages_status(pages)?;
    let first = status
        .iter()
        .enumerate()
        .find_map(|(page, error)| Some((page, (*error)?)));
    match first {
        Some((page, source)) => Err(Error::CorruptPage { page, source }),
        None => Ok(bytes),
    }
}

/// Decompresses all pages and returns the error of each; a page that fails is all zeros and does not affect others.
///
/// # Errors
/// [`Error::InvalidArgument`] if the table and `n_bytes` disagree; [`Error::OutOfMemory`].
pub fn decompress_pages_status(pages: &PackedPages) -> Result<(Vec<u8>, Vec<Option<BlockError>>)> {
    let mut bytes = zeros(pages.checked_n_bytes()?)?;
    let page_size = pages.page_size as usize;
    let decompress =
        |(page, entry): (&mut [u8], &PageEntry)| entry.decompress(&pages.packed, page).err();
    #[cfg(not(target_arch = "wasm32"))]
    if bytes.len() > SHARE_BYTES {
        let status = bytes
            .par_chunks_mut(page_size)
            .zip(&pages.table)
            .with_min_len((SHARE_BYTES / page_size).max(1))
            .map(decompress)
            .collect();
        return Ok((bytes, status));
    }
    let status = bytes
        .chunks_mut(page_size)
        .zip(&pages.table)
        .map(decompress)
        .collect();
    Ok((bytes, status))
}

/// Rejects page sizes that batches and kernels do not support.
pub(crate) fn check_page_size(page_size: u32) -> Result<()> {
    if page_size.is_power_of_two() && (MIN_PAGE_SIZE..=MAX_PAGE_SIZE).contains(&page_size) {
        return Ok(());
    }
    let expected = "give 4096, 8192, 16384, 32768 or 65536 bytes";
    Err(Error::invalid("page size", page_size.into(), expected))
}
