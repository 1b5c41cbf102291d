//! Collects the blocks of a decompression job.

use std::ops::Range;

use super::piece::Piece;
use super::plan::{Packed, worst_block_bytes};
use super::source::Source;
use crate::lz4::PageEntry;
use crate::{Error, Result, memory};

/// Input of one decompression job: blocks, a table of offsets into them, and the pages left to the CPU.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    /// The blocks.
    pub blocks: Blocks,
    /// Two words per page.
    pub table: Vec<u32>,
    /// Indices in the batch of pages whose block is longer than any valid one; the CPU decoder reports their errors.
    pub oversized: Vec<usize>,
}

/// Blocks of a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// A contiguous range of the caller's packed bytes.
    Whole(Range<u64>),
    /// Scattered blocks, copied together.
    Copied(Vec<u8>),
    /// Ranges of the caller's bytes by their offset in the upload, and the upload's total number of bytes.
    Scattered(Vec<(u64, Range<usize>)>, u64),
}

impl Blocks {
    /// Returns the bytes to upload; `pages` are the pages that the blocks were gathered from.
    pub(in crate::batch) fn of<'a>(&'a self, pages: &Packed<'a>) -> Piece<'a> {
        match (self, pages.blocks) {
            (Self::Copied(bytes), _) => Piece::Bytes(bytes),
            (Self::Whole(range), Source::Bytes(packed) | Source::Frame(packed)) => {
                let range = range.start as usize..range.end as usize;
                Piece::Bytes(packed.get(range).unwrap_or_default())
            }
            (Self::Whole(_), Source::Pinned(..)) => Piece::Bytes(&[]),
            #[cfg(web_pages)]
            (Self::Whole(range), Source::Js(bytes) | Source::JsFrame(bytes)) => {
                Piece::Js(bytes, range.start as usize..range.end as usize)
            }
            #[cfg(web_pages)]
            (Self::Scattered(parts, n_bytes), Source::Js(bytes) | Source::JsFrame(bytes)) => {
                Piece::JsParts(bytes, parts, *n_bytes as usize)
            }
            (Self::Scattered(parts, n_bytes), Source::Frame(bytes)) => {
                Piece::Parts(bytes, parts, *n_bytes as usize)
            }
            (Self::Scattered(..), _) => Piece::Bytes(&[]),
        }
    }

    /// Returns the length in bytes.
    pub(crate) fn n_bytes(&self) -> u64 {
        match self {
            Self::Whole(range) => range.end - range.start,
            Self::Copied(bytes) => bytes.len() as u64,
            Self::Scattered(_, n_bytes) => *n_bytes,
        }
    }
}

/// Table words that every engine rejects with `BadTableEntry`: an LZ4 block of length 0.
const BAD_ENTRY: [u32; 2] = [0, 0];

/// Collects the input of the job for `range` of the pages. Entries may be in any order and invalid in any way. Blocks that
/// are far apart are copied together, which needs them in host memory.
pub(crate) fn gather(pages: &Packed<'_>, range: Range<usize>) -> Result<Gathered> {
    if pages.blocks.is_frame() {
        return gather_frame(pages, range);
    }
    let packed_bytes = pages.blocks.n_bytes();
    let worst = worst_block_bytes(pages.page_size);
    let n_pages = range.len() as u64;
    let entries = pages.table.get(range.clone()).unwrap_or_default();
    let is_sound = |entry: &PageEntry| {
        let end = entry.offset.checked_add(u64::from(entry.length));
        end.is_some_and(|end| end <= packed_bytes) && entry.to_words().is_some()
    };
    let is_given = |entry: &PageEntry| is_sound(entry) && u64::from(entry.length) <= worst;
    let oversized = (range.start..)
        .zip(entries)
        .filter(|(_, e)| is_sound(e) && !is_given(e))
        .map(|(i, _)| i)
        .collect();
    let given = || entries.iter().filter(|entry| is_given(entry));
    let start = given().map(|entry| entry.offset).min().unwrap_or(0);
    let end = given()
        .map(|entry| entry.offset + u64::from(entry.length))
        .max()
        .unwrap_or(0)
        .max(start);
    let words = |entry: &PageEntry, offset: u64| {
        let moved = PageEntry { offset, ..*entry };
        if is_given(entry) {
            moved.to_words().unwrap_or(BAD_ENTRY)
        } else {
            BAD_ENTRY
        }
    };
    if end - start <= n_pages * worst {
        let mut table = memory::with_room(2 * entries.len())?;
        table.extend(
            entries
                .iter()
                .flat_map(|entry| words(entry, entry.offset.wrapping_sub(start))),
        );
        return Ok(Gathered {
            blocks: Blocks::Whole(start..end),
            table,
            oversized,
        });
    }
    let far_apart = || Error::InvalidArgument {
        name: "table",
        value: format!("{n_pages} blocks over {} bytes", end - start),
        expected: "blocks that lie together, as they were compressed",
    };
    let mut copied = Vec::new();
    let mut table = memory::with_room(2 * entries.len())?;
    for entry in entries {
        table.extend(words(entry, copied.len() as u64));
        if is_given(entry) {
            let block = pages.blocks.block(entry)?.ok_or_else(far_apart)?;
            memory::reserve(&mut copied, block.len() + 4)?;
            copied.extend_from_slice(&block);
            copied.resize(copied.len().next_multiple_of(4), 0);
        }
    }
    Ok(Gathered {
        blocks: Blocks::Copied(copied),
        table,
        oversized,
    })
}

/// Places the blocks of a frame, whose ranges are within it, at multiples of 8, where ranges of mapped memory may start.
fn gather_frame(pages: &Packed<'_>, range: Range<usize>) -> Result<Gathered> {
    let worst = worst_block_bytes(pages.page_size);
    let mut table = memory::with_room(2 * range.len())?;
    let mut parts = memory::with_room(range.len())?;
    let (mut oversized, mut n_bytes) = (Vec::new(), 0);
    for page in range {
        let entry = pages.table[page];
        if u64::from(entry.length) > worst {
            oversized.push(page);
            table.extend(BAD_ENTRY);
            continue;
        }
        let moved = PageEntry {
            offset: n_bytes,
            ..entry
        };
        table.extend(moved.to_words().unwrap_or(BAD_ENTRY));
        let start = entry.offset as usize;
        parts.push((n_bytes, start..start + entry.length as usize));
        n_bytes += u64::from(entry.length).next_multiple_of(8);
    }
    Ok(Gathered {
        blocks: Blocks::Scattered(parts, n_bytes),
        table,
        oversized,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lz4::{PackedPages, PageKind};

    fn entry(offset: u64, length: u32) -> PageEntry {
        PageEntry {
            offset,
            length,
            kind: PageKind::Lz4,
        }
    }

    fn pages(packed: usize, table: Vec<PageEntry>) -> PackedPages {
        let n_bytes = 4096 * table.len() as u64;
        PackedPages {
            packed: (0..packed).map(|i| i as u8).collect(),
            table,
            page_size: 4096,
            n_bytes,
            dictionary_id: 0,
        }
    }

    #[test]
    fn contiguous_blocks_are_not_copied() {
        let pages = pages(
            100,
            vec![entry(0, 10), entry(12, 8), entry(20, 30), entry(52, 5)],
        );
        let gathered = gather(&Packed::new(&pages, None), 1..3).unwrap();
        assert_eq!(gathered.blocks, Blocks::Whole(12..50));
        let given = Packed::new(&pages, None);
        let Piece::Bytes(blocks) = gathered.blocks.of(&given) else {
            panic!("not contiguous");
        };
        assert_eq!(blocks, &pages.packed[12..50]);
        assert_eq!(gathered.table, [0, 8, 2, 30]);
    }

    #[test]
    fn invalid_entries_are_replaced_and_oversized_ones_are_listed() {
        let table = vec![
            entry(3, 4),
            entry(96, 8),
            entry(u64::MAX, 8),
            entry(40, 8),
            entry(0, 9000),
        ];
        let pages = pages(10_000, table);
        let gathered = gather(&Packed::new(&pages, None), 0..5).unwrap();
        assert_eq!(gathered.table, [0, 0, 14, 8, 0, 0, 0, 8, 0, 0]);
        assert_eq!(gathered.oversized, [4]);
    }

    #[test]
    fn scattered_blocks_are_copied_together() {
        let pages = pages(1 << 20, vec![entry(1_000_000, 5), entry(0, 4)]);
        let gathered = gather(&Packed::new(&pages, None), 0..2).unwrap();
        assert_eq!(gathered.table, [0, 5, 2, 4]);
        let given = Packed::new(&pages, None);
        let Piece::Bytes(blocks) = gathered.blocks.of(&given) else {
            panic!("not copied");
        };
        assert_eq!(blocks.len(), 12);
        assert_eq!(blocks[8..], pages.packed[..4]);
    }
}
