//! The blocks of compressed pages as they stand in a frame: their sizes first, so that threads can write them to their places at
//! the same time.

use std::mem::MaybeUninit;

use super::{BlockSize, FrameOptions, WORD_BYTES, checksum};
use crate::lz4::{PageEntry, PageKind};
use crate::memory::{copied, reserve, reserve_result, with_room};
use crate::{Error, Result};

/// Bytes of blocks from which on threads share them, and about the bytes of a share.
#[cfg(not(target_arch = "wasm32"))]
const SHARE_BYTES: usize = 256 << 10;

/// The blocks of pages, with their sizes and checksums.
#[derive(Debug)]
pub(crate) struct FramedPages<'a> {
    blocks: Vec<Framed<'a>>,
    /// Blocks of fill pages.
    fills: Vec<Vec<u8>>,
    has_checksums: bool,
    n_bytes: usize,
}

#[derive(Debug)]
struct Framed<'a> {
    size: BlockSize,
    data: Data<'a>,
}

#[derive(Debug)]
enum Data<'a> {
    Bytes(&'a [u8]),
    /// Index of the block of a fill page.
    Fill(usize),
}

impl<'a> FramedPages<'a> {
    /// Returns the blocks of the pages of `content`, given their packed blocks and their table.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the table does not fit `packed`, `content` or the block size of the frame.
    pub(crate) fn new(
        options: &FrameOptions,
        content: &'a [u8],
        packed: &'a [u8],
        table: &[PageEntry],
        page_size: u32,
    ) -> Result<Self> {
        let invalid = |value: String| Error::InvalidArgument {
            name: "table",
            value,
            expected: "give one entry a page, inside the packed blocks",
        };
        let pages = content.chunks(page_size.max(1) as usize);
        if pages.len() != table.len() {
            let (n_entries, n_pages) = (table.len(), pages.len());
            return Err(invalid(format!("{n_entries} entries for {n_pages} pages")));
        }
        let mut framed = Self {
            blocks: with_room(table.len())?,
            fills: Vec::new(),
            has_checksums: options.block_checksums,
            n_bytes: 0,
        };
        let mut encoder = None;
        // Word and length of the last fill page, and the length of its block.
        let mut last = (0, 0, 0);
        for (page, entry) in pages.zip(table) {
            if page.len() > options.block_size as usize {
                let expected = "give pages of at most the block size of the frame";
                return Err(Error::invalid("page size", page.len() as u64, expected));
            }
            let block = entry.block(packed, page.len()).ok_or_else(|| {
                let PageEntry { offset, length, .. } = entry;
                invalid(format!("offset {offset}, length {length}"))
            })?;
            let (data, n_bytes) = match entry.kind {
                PageKind::Lz4 => (Data::Bytes(block), block.len()),
                PageKind::Stored => (Data::Bytes(page), page.len()),
                PageKind::Fill(word) => {
                    if framed.fills.is_empty() || (last.0, last.1) != (word, page.len()) {
                        let encoder = match &mut encoder {
                            Some(encoder) => encoder,
                            none => none.insert(options.encoder()?),
                        };
                        let block = copied(encoder.encode(page))?;
                        last = (word, page.len(), block.len());
                        reserve(&mut framed.fills, 1)?;
                        framed.fills.push(block);
                    }
                    (Data::Fill(framed.fills.len() - 1), last.2)
                }
            };
            let is_compressed = n_bytes < page.len();
            let block = match is_compressed {
                true => Framed {
                    size: BlockSize::of(n_bytes, true),
                    data,
                },
                false => Framed {
                    size: BlockSize::of(page.len(), false),
                    data: Data::Bytes(page),
                },
            };
            framed.n_bytes += block.size.framed_bytes(framed.has_checksums);
            framed.blocks.push(block);
        }
        Ok(framed)
    }

    /// Returns the bytes of all blocks, with their sizes and checksums.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns the bytes of each block, with its size and checksum.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.size.framed_bytes(self.has_checksums))
    }

    /// Writes the blocks to `room`, which is as long as they are. Natively it uses several cores if no other threads do this at
    /// the same time.
    pub(crate) fn write(&self, room: &mut [MaybeUninit<u8>], is_alone: bool) -> Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        if is_alone && self.n_bytes > SHARE_BYTES && rayon::current_num_threads() > 1 {
            use rayon::prelude::*;
            let shares = self.shares(room)?;
            let write = |(blocks, room): (&[Framed<'_>], _)| self.write_all(blocks, room);
            shares.into_par_iter().for_each(write);
            return Ok(());
        }
        let _ = is_alone;
        self.write_all(&self.blocks, room);
        Ok(())
    }

    /// Divides the blocks and their room.
    #[cfg(not(target_arch = "wasm32"))]
    fn shares<'r>(&self, room: &'r mut [MaybeUninit<u8>]) -> Result<Vec<Share<'_, 'r, 'a>>> {
        let mut shares = with_room(self.n_bytes / SHARE_BYTES + 1)?;
        let (mut room, mut start, mut n_bytes) = (room, 0, 0);
        for (i, length) in self.lengths().enumerate() {
            n_bytes += length;
            if n_bytes >= SHARE_BYTES || i + 1 == self.blocks.len() {
                let (place, rest) = room.split_at_mut(n_bytes);
                shares.push((&self.blocks[start..=i], place));
                (room, start, n_bytes) = (rest, i + 1, 0);
            }
        }
        Ok(shares)
    }

    fn write_all(&self, blocks: &[Framed<'_>], mut room: &mut [MaybeUninit<u8>]) {
        let mut put = |bytes: &[u8]| {
            let (place, rest) = std::mem::take(&mut room).split_at_mut(bytes.len());
            place.write_copy_of_slice(bytes);
            room = rest;
        };
        for block in blocks {
            let data = match block.data {
                Data::Bytes(bytes) => bytes,
                Data::Fill(i) => &self.fills[i],
            };
            put(&block.size.word.to_le_bytes());
            put(data);
            if self.has_checksums {
                put(&checksum(data).to_le_bytes());
            }
        }
    }

    /// Appends the blocks to `out`.
    pub(super) fn append(&self, out: &mut Vec<u8>) -> Result<()> {
        let n_bytes = self.n_bytes();
        reserve_result(out, n_bytes)?;
        self.write(&mut out.spare_capacity_mut()[..n_bytes], true)?;
        // SAFETY: `write` has written all of the room, which is as long as the blocks, behind the length of `out`.
        unsafe { out.set_len(out.len() + n_bytes) };
        Ok(())
    }
}

#[cfg(not(target_arch = "wasm32"))]
type Share<'s, 'r, 'a> = (&'s [Framed<'a>], &'r mut [MaybeUninit<u8>]);

/// Returns the most bytes of the blocks of `n_bytes` of content.
pub(super) fn most_framed(n_bytes: usize, options: &FrameOptions) -> usize {
    let n_blocks = n_bytes.div_ceil(options.block_size as usize);
    let around = WORD_BYTES * if options.block_checksums { 2 } else { 1 };
    n_bytes.saturating_add(n_blocks.saturating_mul(around))
}
