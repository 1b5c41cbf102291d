//! Reads of blocks from layers, and their decompression.

use std::ops::Range;

use super::hash::ContentHash;
use super::pages::Region;
use super::version::{Block, Version};
use crate::lz4::decompress_block;
use crate::memory::{reserve, with_room, zeros};
use crate::{Error, Result};

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

/// Bytes between two blocks of a layer that are read with them: padding, the size of the next block in a file.
const MAX_GAP: u64 = 64;
/// Bytes of content in a step of a restore.
pub(super) const STEP_BYTES: usize = 1 << 20;

/// Bytes of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Index of the layer.
    pub layer: u16,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// Pieces of layers that hold the blocks of some pages, one after the other.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub pieces: Vec<Piece>,
    /// The position in the pieces of the block of each page; 0 for filled pages.
    pub positions: Vec<u64>,
}

impl Version {
    /// Returns the pieces to read for `pages`.
    pub(super) fn stage(&self, pages: impl Iterator<Item = usize>) -> Result<Staged> {
        let mut staged = Staged::default();
        // Bytes of the pieces before the last one.
        let mut before = 0;
        for page in pages {
            reserve(&mut staged.positions, 1)?;
            let Block::At {
                layer,
                length,
                offset,
            } = self.0.pages[page].block
            else {
                staged.positions.push(0);
                continue;
            };
            let end = offset + u64::from(length);
            let position = match staged.pieces.last_mut() {
                Some(last)
                    if last.layer == layer && (last.end..=last.end + MAX_GAP).contains(&offset) =>
                {
                    last.end = end;
                    before + offset - last.start
                }
                last => {
                    before += last.map_or(0, |last| last.end - last.start);
                    reserve(&mut staged.pieces, 1)?;
                    staged.pieces.push(Piece {
                        layer,
                        start: offset,
                        end,
                    });
                    before
                }
            };
            staged.positions.push(position);
        }
        Ok(staged)
    }

    /// Returns the block of a page, which is at `position` of `staged`; empty for filled pages.
    pub(super) fn block_in<'a>(
        &self,
        staged: &'a [u8],
        page: usize,
        position: u64,
    ) -> Result<&'a [u8]> {
        let Block::At { length, .. } = self.0.pages[page].block else {
            return Ok(&[]);
        };
        let end = position + u64::from(length);
        staged
            .get(position as usize..end as usize)
            .ok_or(Error::LengthMismatch {
                name: "staged bytes",
                expected: end,
                actual: staged.len() as u64,
            })
    }

    /// Decompresses a page from its block and compares it with its hash.
    fn decode(&self, page: usize, block: &[u8], out: &mut [u8]) -> Result<()> {
        let expected = &self.0.pages[page];
        match expected.block {
            Block::Fill(0) => {
                out.fill(0);
                return Ok(());
            }
            Block::Fill(word) => {
                for part in out.chunks_exact_mut(8) {
                    part.copy_from_slice(&word.to_le_bytes());
                }
                return Ok(());
            }
            Block::At { .. } if block.len() == out.len() => out.copy_from_slice(block),
            Block::At { .. } => {
                decompress_block(block, out)
                    .map_err(|source| Error::CorruptPage { page, source })?;
            }
        }
        match ContentHash::of(out) == expected.hash {
            true => Ok(()),
            false => Err(Error::PageMismatch { page }),
        }
    }
}

/// Restores bytes of a region, in steps: [`wanted`](Self::wanted) returns the parts of layers to read, and
/// [`supply`](Self::supply) decompresses them.
#[derive(Debug)]
pub struct Restore {
    version: Version,
    /// Bytes of the region that are left.
    range: Range<u64>,
    region: usize,
}

impl Restore {
    /// Prepares to restore `range` of a region.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the region has no such bytes.
    pub fn new(version: &Version, region: usize, range: Range<u64>) -> Result<Self> {
        let Some(Region { n_bytes, .. }) = version.regions().get(region) else {
            return Err(Error::invalid(
                "region",
                region as u64,
                "give the index of a region",
            ));
        };
        if range.start > range.end || range.end > *n_bytes {
            let value = format!("{}..{}", range.start, range.end);
            let expected = "give bytes inside the region";
            return Err(Error::InvalidArgument {
                name: "range",
                value,
                expected,
            });
        }
        Ok(Self {
            version: version.clone(),
            range,
            region,
        })
    }

    /// Returns the number of bytes that the next [`supply`](Self::supply) restores; 0 at the end.
    #[must_use]
    pub fn next_bytes(&self) -> usize {
        let step = STEP_BYTES as u64;
        let end = (self.range.start / step + 1) * step;
        (end.min(self.range.end) - self.range.start) as usize
    }

    /// Returns the parts of layers that the next [`supply`](Self::supply) needs.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn wanted(&self) -> Result<Vec<Piece>> {
        Ok(self.version.stage(self.pages())?.pieces)
    }

    /// Restores the next bytes from `staged`, the bytes of the [`wanted`](Self::wanted) parts one after the other. `out` has
    /// [`next_bytes`](Self::next_bytes).
    ///
    /// # Errors
    /// [`Error::CorruptPage`] and [`Error::PageMismatch`] for damaged content, [`Error::OutOfMemory`],
    /// [`Error::LengthMismatch`] for arguments of other lengths.
    pub fn supply(&mut self, staged: &[u8], out: &mut [u8]) -> Result<()> {
        let positions = self.version.stage(self.pages())?.positions;
        if out.len() != self.next_bytes() {
            return Err(Error::LengthMismatch {
                name: "out",
                expected: self.next_bytes() as u64,
                actual: out.len() as u64,
            });
        }
        let mut tasks = with_room(positions.len())?;
        let mut rest = out;
        for (page, position) in self.pages().zip(positions) {
            let block = self.version.block_in(staged, page, position)?;
            let (part, others) = rest.split_at_mut(self.part_of(page).len());
            tasks.push((page, block, part));
            rest = others;
        }
        let restore = |(page, block, part): (_, _, &mut _)| self.restore(page, block, part);
        #[cfg(not(target_arch = "wasm32"))]
        tasks.into_par_iter().try_for_each(restore)?;
        #[cfg(target_arch = "wasm32")]
        tasks.into_iter().try_for_each(restore)?;
        self.range.start += self.next_bytes() as u64;
        Ok(())
    }

    /// Restores the part of a page that is in the range.
    fn restore(&self, page: usize, block: &[u8], part: &mut [u8]) -> Result<()> {
        let n_bytes = self.version.0.layout.page_bytes(page);
        if part.len() == n_bytes {
            return self.version.decode(page, block, part);
        }
        let mut whole = zeros(n_bytes)?;
        self.version.decode(page, block, &mut whole)?;
        part.copy_from_slice(&whole[self.part_of(page)]);
        Ok(())
    }

    /// Returns the pages of the next step.
    fn pages(&self) -> Range<usize> {
        let end = self.range.start + self.next_bytes() as u64;
        self.version.pages_at(self.region, &(self.range.start..end))
    }

    /// Returns the bytes of a page that are in the range.
    fn part_of(&self, page: usize) -> Range<usize> {
        let layout = &self.version.0.layout;
        let first = layout.pages_of(self.region).start;
        let start = (page - first) as u64 * u64::from(layout.page_size);
        let n_bytes = layout.page_bytes(page) as u64;
        let inside = |at: u64| (at.clamp(start, start + n_bytes) - start) as usize;
        inside(self.range.start)..inside(self.range.end)
    }
}
