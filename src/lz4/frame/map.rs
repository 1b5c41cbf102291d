//! Where the blocks of a file of frames are, and reading any part of their content. No input or output: whoever has the
//! file is told which bytes are wanted and supplies them, so this serves files, and blobs and servers in a browser.
//!
//! A file whose frames all have an index is mapped from that. Else the file is walked, as far as the content that is
//! asked for: every block is looked at, since nothing but its sequences says how much it holds, but none is decoded.
//!
//! An index is not believed about what the file says itself: that a frame starts where one is said to, with the header and
//! end that are said, after the end of the one before, and that a block of the size that is said is where one is said to be,
//! for all blocks from the first of the file to those that are read. [`FrameMap::trusting`] leaves out these blocks, for whom
//! a read of each would be a request to a server. What an index says of the content of blocks is checked where they are
//! decoded.

use std::ops::Range;

use super::find_index::TAIL_BYTES;
use super::index::FrameIndex;
use super::{
    BlockSize, ContentRead, FrameEvent, FrameHeader, FrameReader, HISTORY_BYTES, Step, WORD_BYTES,
    word,
};
use crate::lz4::BlockError;
use crate::lz4::formats::{fault, measure};
use crate::memory::{extend, reserve};
use crate::{Error, Result};

/// Bytes of the file that are read at once where more than a little is needed.
pub(super) const WINDOW_BYTES: u64 = 1 << 20;
/// Sizes of blocks that lie within so many bytes are read at once.
const SIZES_BYTES: u64 = 4 << 10;
pub(super) const SIZE_BYTES: u64 = WORD_BYTES as u64;

/// A block, and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Position of its size in the file.
    pub at: u64,
    pub size: BlockSize,
    pub has_checksum: bool,
    pub content_at: u64,
    pub content_bytes: u32,
    /// The first of the blocks that it needs to be decoded.
    pub needs: usize,
}

impl Block {
    /// Compares the size that stands in the file with the one that an index says.
    pub(super) fn check_size(&self, found: Option<u32>) -> Result<()> {
        if found == Some(self.size.word) {
            return Ok(());
        }
        Err(Error::InvalidFrame {
            what: "block size (the index has another)",
            value: found.unwrap_or_default().into(),
            at: self.at,
        })
    }

    /// Where it ends in the file, its checksum included.
    pub(super) fn end(&self) -> u64 {
        self.at + self.size.framed_bytes(self.has_checksum) as u64
    }

    pub(super) fn content_end(&self) -> u64 {
        self.content_at + u64::from(self.content_bytes)
    }
}

/// Where the blocks of a file are, as far as it is known.
#[derive(Debug)]
pub struct FrameMap {
    pub(super) blocks: Vec<Block>,
    /// Frames at the end of the file that have an index, the last one first, each with its start.
    pub(super) indexed: Vec<(u64, FrameIndex)>,
    pub(super) has_index: bool,
    /// Whether sizes of blocks are believed.
    is_trusting: bool,
    /// Blocks from the start of the file on whose sizes were compared.
    n_checked: usize,
    pub(super) stage: Stage,
    /// Bytes of the file.
    n_bytes: u64,
    /// The start of the frames with an index that were found so far; the end of the file before one was.
    pub(super) end: u64,
    /// Bytes before that, from a position on, which were read to find an index.
    pub(super) tail: (u64, Vec<u8>),
    /// An index, and the start of its frame, which is to be looked at.
    pub(super) candidate: Option<(u64, FrameIndex)>,
    reader: FrameReader,
    /// Bytes that were not consumed, at the position of the reader.
    held: Vec<u8>,
    /// What the next piece needs more.
    needed: usize,
    /// The frame in which the walk is.
    frame: Option<Frame>,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// These bytes are needed to find out whether an index comes next, from the end.
    Tail(Range<u64>),
    /// Blocks are walked.
    Walk,
    Complete,
    /// What was found wrong in a range, and is found again by whoever goes on.
    Failed(Range<u64>, Error),
    /// The same of a size that an index says, so that nothing of the map is of use.
    Lied(Range<u64>, Error),
}

/// The frame in which a walk is.
#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    first: usize,
    content_at: u64,
}

impl FrameMap {
    /// The map of a file of `n_bytes`, of which nothing is known yet.
    #[must_use]
    pub fn new(n_bytes: u64) -> Self {
        Self {
            blocks: Vec::new(),
            indexed: Vec::new(),
            has_index: false,
            is_trusting: false,
            n_checked: 0,
            // Nothing is no frame, as the walk will say.
            stage: if n_bytes == 0 {
                Stage::Walk
            } else {
                Stage::Tail(n_bytes.saturating_sub(TAIL_BYTES)..n_bytes)
            },
            n_bytes,
            end: n_bytes,
            tail: (0, Vec::new()),
            candidate: None,
            reader: FrameReader::new(),
            held: Vec::new(),
            needed: 1,
            frame: None,
        }
    }

    /// The map of a file of `n_bytes`, whose index is believed about the sizes of blocks that are not read. That saves a
    /// read of four bytes for each block before those that are read, and the content of a file whose author lies may
    /// differ from what decompressing all of it gives.
    #[must_use]
    pub fn trusting(n_bytes: u64) -> Self {
        Self {
            is_trusting: true,
            ..Self::new(n_bytes)
        }
    }

    /// The bytes of the file that are to be supplied next for the content up to `end` to be mapped; `None` if it is,
    /// or if the content ends before.
    #[must_use]
    pub fn wanted(&self, end: u64) -> Option<Range<u64>> {
        let is_mapped = self.mapped_bytes() >= end;
        match &self.stage {
            Stage::Tail(range) | Stage::Lied(range, _) => Some(range.clone()),
            Stage::Walk if !is_mapped => {
                // What follows the bytes held: a window, or all that the next piece needs.
                let start = self.reader.position() + self.held.len() as u64;
                let window = WINDOW_BYTES.max(self.needed as u64);
                Some(start..self.end.min(start + window))
            }
            Stage::Failed(range, _) if !is_mapped => Some(range.clone()),
            Stage::Complete => self.unchecked_sizes(end),
            _ => None,
        }
    }

    /// The bytes of the sizes to be compared next of blocks whose content begins before `end`.
    fn unchecked_sizes(&self, end: u64) -> Option<Range<u64>> {
        let unchecked = self.blocks.get(self.n_checked..).unwrap_or_default();
        let first = unchecked.first().filter(|first| first.content_at < end)?;
        let mut last = first;
        for block in unchecked {
            if block.content_at >= end || block.at + SIZE_BYTES - first.at > SIZES_BYTES {
                break;
            }
            last = block;
        }
        Some(first.at..last.at + SIZE_BYTES)
    }

    /// Compares the sizes in `bytes`, which is what [`unchecked_sizes`](Self::unchecked_sizes) of some end said.
    fn check_sizes(&mut self, bytes: &[u8]) -> Result<()> {
        let unchecked = self.blocks.get(self.n_checked..).unwrap_or_default();
        let Some(first) = unchecked.first() else {
            return Ok(());
        };
        let mut n_checked = 0;
        for block in unchecked {
            let at = (block.at - first.at) as usize;
            if at + SIZE_BYTES as usize > bytes.len() {
                break;
            }
            block.check_size(word(bytes, at))?;
            n_checked += 1;
        }
        self.n_checked += n_checked;
        Ok(())
    }

    /// Notes that blocks were decoded, each with the size that it has in the file.
    pub(super) fn note_decoded(&mut self, blocks: Range<usize>) {
        if blocks.start <= self.n_checked {
            self.n_checked = self.n_checked.max(blocks.end);
        }
    }

    /// Takes the bytes that were [`wanted`](Self::wanted).
    ///
    /// # Errors
    /// What is wrong with the frames, where the file is walked; [`Error::InvalidFrame`] if a block has not the size that the
    /// index says; [`Error::OutOfMemory`].
    pub fn supply(&mut self, bytes: &[u8]) -> Result<()> {
        let range = match &self.stage {
            // What was wanted up to some end is known by its start; whoever supplies it knows how much it was.
            Stage::Complete => self.unchecked_sizes(u64::MAX).map(|range| {
                let end = range.end.min(range.start + bytes.len() as u64);
                range.start..end
            }),
            _ => self.wanted(u64::MAX),
        };
        let Some(range) = range else {
            return Ok(());
        };
        let is_one_size =
            bytes.len() as u64 >= SIZE_BYTES || !matches!(self.stage, Stage::Complete);
        if bytes.len() as u64 != range.end - range.start || !is_one_size {
            return Err(short(&range, bytes));
        }
        let supplied = match &self.stage {
            Stage::Tail(_) => self.take_tail(range.start, bytes),
            Stage::Walk => self.walk(bytes),
            Stage::Complete => self.check_sizes(bytes),
            Stage::Failed(_, error) | Stage::Lied(_, error) => Err(error.clone()),
        };
        if let Err(error) = &supplied {
            self.stage = match &self.stage {
                Stage::Complete | Stage::Lied(..) => Stage::Lied(range, error.clone()),
                _ => Stage::Failed(range, error.clone()),
            };
        }
        supplied
    }

    /// Bytes of content that are mapped.
    #[must_use]
    pub fn mapped_bytes(&self) -> u64 {
        self.blocks.last().map_or(0, Block::content_end)
    }

    /// Bytes of all content, once all of it is mapped.
    #[must_use]
    pub fn content_bytes(&self) -> Option<u64> {
        matches!(self.stage, Stage::Complete).then(|| self.mapped_bytes())
    }

    /// Whether an index was found, so that the file need not be walked, or not all of it.
    #[must_use]
    pub const fn has_index(&self) -> bool {
        self.has_index
    }

    /// Begins to read the content in `range`, which must be mapped.
    #[must_use]
    pub fn read(&self, range: Range<u64>) -> ContentRead {
        ContentRead::new(self, range)
    }

    /// Goes on as if no index had been found.
    fn forget_indexes(&mut self) {
        self.indexed.clear();
        self.has_index = false;
        self.end = self.n_bytes;
    }

    /// Puts the blocks that indexes tell of after those that are mapped.
    pub(super) fn append_indexed(&mut self) -> Result<()> {
        self.tail = (0, Vec::new());
        // A walk has seen the sizes itself.
        self.n_checked = self.blocks.len();
        for (start, index) in std::mem::take(&mut self.indexed).into_iter().rev() {
            reserve(&mut self.blocks, index.entries.len())?;
            let mut at = start + u64::from(index.header_bytes);
            for entry in &index.entries {
                let block = Block {
                    at,
                    size: entry.size,
                    has_checksum: index.block_checksums,
                    content_at: self.mapped_bytes(),
                    content_bytes: entry.content_bytes,
                    needs: self.blocks.len(),
                };
                at = block.end();
                self.blocks.push(block);
            }
        }
        if self.is_trusting {
            self.n_checked = self.blocks.len();
        }
        self.stage = Stage::Complete;
        Ok(())
    }

    fn walk(&mut self, bytes: &[u8]) -> Result<()> {
        extend(&mut self.held, bytes)?;
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        loop {
            let position = self.reader.position();
            match self.reader.step(&held[at..])? {
                Step::More { consumed, needed } => {
                    at += consumed;
                    self.needed = needed;
                    if consumed == 0 {
                        break;
                    }
                }
                Step::Event { consumed, event } => {
                    self.note(position, &event)?;
                    at += consumed;
                }
            }
        }
        self.held = held;
        self.held.drain(..at);
        if self.reader.position() + self.held.len() as u64 == self.end {
            match self.reader.finish(&self.held) {
                Ok(_) => self.append_indexed()?,
                // The file has no frame where an index says that one starts.
                Err(_) if !self.indexed.is_empty() => self.forget_indexes(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn note(&mut self, at: u64, event: &FrameEvent<'_>) -> Result<()> {
        let content_at = self.mapped_bytes();
        match (event, &self.frame) {
            (FrameEvent::Header(header), _) => {
                self.frame = Some(Frame {
                    header: *header,
                    first: self.blocks.len(),
                    content_at,
                });
            }
            (FrameEvent::Block(block), Some(frame)) => {
                let history = if frame.header.linked {
                    (content_at - frame.content_at).min(HISTORY_BYTES as u64)
                } else {
                    0
                };
                let corrupt = |source| fault(block.index, block.data, history, source);
                let content_bytes = match block.compressed {
                    true => measure(block.data, history).map_err(corrupt)?,
                    false => block.data.len() as u64,
                };
                if content_bytes > u64::from(frame.header.block_max_size) {
                    return Err(corrupt(BlockError::OutputOverrun));
                }
                reserve(&mut self.blocks, 1)?;
                self.blocks.push(Block {
                    at,
                    size: match frame.header.legacy {
                        true => BlockSize::new(block.data.len() as u32, true),
                        false => block.size(),
                    },
                    has_checksum: frame.header.block_checksums,
                    content_at,
                    content_bytes: content_bytes as u32,
                    needs: match frame.header.linked {
                        true => frame.first,
                        false => self.blocks.len(),
                    },
                });
            }
            _ => {}
        }
        Ok(())
    }
}

/// The file is shorter than it was said to be.
pub(super) fn short(wanted: &Range<u64>, bytes: &[u8]) -> Error {
    Error::TruncatedFrame {
        at: wanted.start + bytes.len() as u64,
        needed: (wanted.end - wanted.start).saturating_sub(bytes.len() as u64),
    }
}
