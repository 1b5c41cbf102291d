//! [`FileWriter`]: a version as an LZ4 file.
//!
//! A version without a base has a frame for each region, of independent blocks that hold a page each, so that `lz4 -d` restores the
//! image. Equal pages have equal blocks there, since LZ4 has no other way; a reader keeps one of them. An increment has one frame
//! with the pages that it added. The manifest follows in a skippable frame.
//!
//! A filled page of at least 32 bytes has the block of [`push_fill`], whose length a reader computes.

use std::ops::Range;

use super::manifest;
use super::pages::Layout;
use super::staging::{Piece, STEP_BYTES, Staged};
use super::version::{Block, Origin, Table, Version};
use crate::Result;
use crate::lz4::frame::{BlockSize, FrameOptions, put, put_word};
use crate::memory::{reserve, with_room};

/// Bytes of the header of a frame, with its magic number.
pub(super) const HEADER_BYTES: u64 = 15;
/// Bytes of the size of a block, and of the end mark.
pub(super) const SIZE_BYTES: u64 = 4;
/// Bytes of the word of a filled page.
const WORD_BYTES: usize = 8;
/// Literals at the end of a block, which the format requires.
const LAST_LITERALS: usize = 5;
/// Shorter filled pages are not compressed.
const MIN_FILL: usize = 32;
/// Bytes of the shortest match, and largest value of half a token.
const MIN_MATCH: usize = 4;
const TOKEN_MAX: usize = 15;
/// Most bytes that a page adds to its block: the size, the block of a filled page.
const MOST_FRAMED: usize = 4 + 65_536 / 255 + 32;

/// The frames of a file: each has pages of the version, in order.
pub(super) struct Frames {
    /// The pages of all frames.
    pub pages: Vec<u32>,
    /// The part of `pages` and the bytes of content of each frame.
    pub frames: Vec<(Range<usize>, u64)>,
}

impl Frames {
    /// Returns the frames of a version with these pages: one for each region without a base, else one with the pages that were
    /// added.
    pub fn of(layout: &Layout, origins: &[Origin], has_base: bool) -> Result<Self> {
        let is_inside = |&page: &u32| !has_base || origins[page as usize] == Origin::Added;
        let n_pages = (0..origins.len() as u32).filter(is_inside).count();
        let mut pages = with_room(n_pages)?;
        pages.extend((0..origins.len() as u32).filter(is_inside));
        let mut frames = Vec::new();
        if has_base {
            let n_bytes = pages
                .iter()
                .map(|&page| layout.page_bytes(page as usize) as u64);
            frames.push((0..n_pages, n_bytes.sum()));
        } else {
            reserve(&mut frames, layout.regions.len())?;
            let regions = layout.regions.iter().enumerate();
            frames.extend(regions.map(|(i, region)| (layout.pages_of(i), region.n_bytes)));
        }
        Ok(Self { pages, frames })
    }
}

/// Returns the bytes of the block of a page in a file.
pub(super) fn block_bytes(block: Block, n_bytes: usize) -> u64 {
    match block {
        Block::At { length, .. } => length.into(),
        Block::Fill(_) if n_bytes < MIN_FILL => n_bytes as u64,
        Block::Fill(_) => {
            1 + WORD_BYTES as u64 + 2 + extra_bytes(n_bytes) + 1 + LAST_LITERALS as u64
        }
    }
}

/// Returns the number of bytes that continue the length of the match of a filled page.
const fn extra_bytes(n_bytes: usize) -> u64 {
    ((n_bytes - WORD_BYTES - LAST_LITERALS - MIN_MATCH - TOKEN_MAX) / 255 + 1) as u64
}

/// Appends the block of a page that is filled with `word`: the word as literals, a match with its offset, the last literals.
fn push_fill(word: u64, n_bytes: usize, out: &mut Vec<u8>) {
    let page = word.to_le_bytes().into_iter().cycle();
    if n_bytes < MIN_FILL {
        return out.extend(page.take(n_bytes));
    }
    put(out, &[(WORD_BYTES << 4 | TOKEN_MAX) as u8]);
    put(out, &word.to_le_bytes());
    put(out, &(WORD_BYTES as u16).to_le_bytes());
    let rest = n_bytes - WORD_BYTES - LAST_LITERALS - MIN_MATCH - TOKEN_MAX;
    out.extend(std::iter::repeat_n(255, rest / 255));
    put(out, &[(rest % 255) as u8, (LAST_LITERALS << 4) as u8]);
    out.extend(
        page.skip((n_bytes - LAST_LITERALS) % WORD_BYTES)
            .take(LAST_LITERALS),
    );
}

/// Writes a version as a file, in steps: [`wanted`](Self::wanted) returns the parts of layers to read, and
/// [`supply`](Self::supply) returns bytes of the file.
pub struct FileWriter {
    version: Version,
    frames: Frames,
    /// The frame that is being written, and the next of its pages.
    frame: usize,
    next: usize,
}

impl FileWriter {
    /// Prepares to write `version`.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(version: &Version) -> Result<Self> {
        let Table {
            layout,
            origins,
            base,
            ..
        } = &*version.0;
        let frames = Frames::of(layout, origins, base.is_some())?;
        Ok(Self {
            version: version.clone(),
            frames,
            frame: 0,
            next: 0,
        })
    }

    /// Returns the parts of layers that the next [`supply`](Self::supply) needs; `None` at the end of the file.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn wanted(&self) -> Result<Option<Vec<Piece>>> {
        let Some(pages) = self.step() else {
            return Ok(None);
        };
        Ok(Some(self.stage(pages)?.pieces))
    }

    /// Appends the next bytes of the file to `out`. `staged` has the bytes of the [`wanted`](Self::wanted) parts one after the
    /// other.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch) if `staged` is too short, [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn supply(&mut self, staged: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let Some(pages) = self.step() else {
            return Ok(());
        };
        let positions = self.stage(pages.clone())?.positions;
        let (frame, content_size) = self.frames.frames[self.frame].clone();
        let most = staged.len() + pages.len() * MOST_FRAMED + 32;
        reserve(out, most)?;
        if pages.start == frame.start {
            let options = FrameOptions {
                block_size: self.version.page_size(),
                content_checksum: false,
                content_size: Some(content_size),
                ..FrameOptions::default()
            };
            options.write_header(out);
        }
        for (&page, position) in self.frames.pages[pages.clone()].iter().zip(positions) {
            let page = page as usize;
            let block = self.version.block_in(staged, page, position)?;
            let n_bytes = self.version.0.layout.page_bytes(page);
            let n_block = block_bytes(self.version.0.pages[page].block, n_bytes) as usize;
            put_word(out, BlockSize::of(n_block, n_block < n_bytes).word);
            match self.version.0.pages[page].block {
                Block::Fill(word) => push_fill(word, n_bytes, out),
                Block::At { .. } => put(out, block),
            }
        }
        self.next = pages.end;
        if pages.end == frame.end {
            put_word(out, 0);
            self.frame += 1;
        }
        if self.frame == self.frames.frames.len() {
            manifest::write(&self.version, out)?;
        }
        Ok(())
    }

    /// Returns the positions in the list of pages of the next step.
    fn step(&self) -> Option<Range<usize>> {
        let (frame, _) = self.frames.frames.get(self.frame)?;
        let n_pages = STEP_BYTES / self.version.page_size() as usize;
        Some(self.next..frame.end.min(self.next + n_pages))
    }

    fn stage(&self, pages: Range<usize>) -> Result<Staged> {
        let pages = &self.frames.pages[pages];
        self.version.stage(pages.iter().map(|&page| page as usize))
    }
}

impl std::fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWriter")
            .field("version", &self.version.id())
            .finish_non_exhaustive()
    }
}
