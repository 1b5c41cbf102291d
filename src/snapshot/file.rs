//! [`FileWriter`]: a version as an LZ4 file, see `frames.rs` and `manifest/mod.rs`.

use std::ops::Range;

use super::frames::{Frames, block_bytes, push_fill};
use super::manifest;
use super::staging::{Piece, STEP_BYTES, Staged};
use super::version::{Block, Table, Version};
use crate::Result;
use crate::lz4::frame::{BlockSize, FrameOptions, put, put_word};
use crate::memory::reserve;

/// Most bytes that a page adds to its block: the size, the block of a filled page.
const MOST_FRAMED: usize = 4 + 65_536 / 255 + 32;

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
