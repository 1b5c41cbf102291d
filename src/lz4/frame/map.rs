//! Where the blocks of a file of frames are, and reading any part of their content. No input or output: whoever has the
//! file is told which bytes are wanted and supplies them, so this serves files, and blobs and servers in a browser.
//!
//! A file whose frames all have an index is mapped from that. Else the file is walked, as far as the content that is
//! asked for: every block is looked at, since nothing but its sequences says how much it holds, but none is decoded.

use std::ops::Range;

use super::foreign::measure;
use super::index::FrameIndex;
use super::{ContentRead, FrameEvent, FrameHeader, FrameReader, STORED_BIT, Step};
use crate::lz4::BlockError;
use crate::{Error, Result};

/// Bytes of the file that are read at once where more than a little is needed.
pub(super) const WINDOW_BYTES: u64 = 1 << 20;
/// Bytes of the end of the file that are read first: most indexes fit.
const TAIL_BYTES: u64 = 64 << 10;
/// How far back matches of linked blocks reach.
pub(super) const HISTORY_BYTES: u64 = 64 << 10;
pub(super) const SIZE_BYTES: u64 = 4;

/// A block, and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Position of its size in the file.
    pub at: u64,
    pub size_word: u32,
    pub has_checksum: bool,
    pub is_legacy: bool,
    pub content_at: u64,
    pub content_bytes: u32,
    /// The first of the blocks that it needs to be decoded.
    pub needs: usize,
}

impl Block {
    pub(super) fn size(&self) -> usize {
        let mask = if self.is_legacy {
            u32::MAX
        } else {
            !STORED_BIT
        };
        (self.size_word & mask) as usize
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.is_legacy || self.size_word & STORED_BIT == 0
    }

    /// Where it ends in the file, its checksum included.
    pub(super) fn end(&self) -> u64 {
        let checksum = if self.has_checksum { 4 } else { 0 };
        self.at + SIZE_BYTES + self.size() as u64 + checksum
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
    indexed: Vec<(u64, FrameIndex)>,
    has_index: bool,
    stage: Stage,
    /// Where the frames with an index start that were found so far; the end of the file before one was.
    end: u64,
    /// How many bytes before that are to be read to find another index.
    tail_bytes: u64,
    reader: FrameReader,
    /// Bytes that were not consumed, at the position of the reader.
    held: Vec<u8>,
    /// What the next piece needs more.
    needed: usize,
    /// The frame in which the walk is.
    frame: Option<Frame>,
}

#[derive(Debug)]
enum Stage {
    /// To be found out whether an index comes next, from the end.
    Tail,
    /// Blocks are walked.
    Walk,
    Complete,
    /// What was found wrong in a range, and is found again by whoever goes on.
    Failed(Range<u64>, Error),
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
            // Nothing is no frame, as the walk will say.
            stage: if n_bytes == 0 {
                Stage::Walk
            } else {
                Stage::Tail
            },
            end: n_bytes,
            tail_bytes: TAIL_BYTES.min(n_bytes),
            reader: FrameReader::new(),
            held: Vec::new(),
            needed: 1,
            frame: None,
        }
    }

    /// The bytes of the file that are to be supplied next for the content up to `end` to be mapped; `None` if it is,
    /// or if the content ends before.
    #[must_use]
    pub fn wanted(&self, end: u64) -> Option<Range<u64>> {
        let is_mapped = self.mapped_bytes() >= end;
        match &self.stage {
            Stage::Tail => Some(self.end - self.tail_bytes..self.end),
            Stage::Walk if !is_mapped => {
                // What follows the bytes held: a window, or all that the next piece needs.
                let start = self.reader.position() + self.held.len() as u64;
                let window = WINDOW_BYTES.max(self.needed as u64);
                Some(start..self.end.min(start + window))
            }
            Stage::Failed(range, _) if !is_mapped => Some(range.clone()),
            _ => None,
        }
    }

    /// Takes the bytes that were [`wanted`](Self::wanted).
    ///
    /// # Errors
    /// What is wrong with the frames, where the file is walked.
    pub fn supply(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(range) = self.wanted(u64::MAX) else {
            return Ok(());
        };
        if bytes.len() as u64 != range.end - range.start {
            return Err(short(&range, bytes));
        }
        let supplied = match &self.stage {
            Stage::Tail => {
                self.take_tail(bytes);
                Ok(())
            }
            Stage::Walk => self.walk(bytes),
            Stage::Complete => Ok(()),
            Stage::Failed(_, error) => Err(error.clone()),
        };
        if let Err(error) = &supplied {
            self.stage = Stage::Failed(range, error.clone());
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

    /// Looks for an index in the tail, which ends where a frame starts or the file ends.
    fn take_tail(&mut self, tail: &[u8]) {
        let length = FrameIndex::length(tail).filter(|&length| length <= self.end);
        match length {
            Some(length) if length > self.tail_bytes => self.tail_bytes = length,
            Some(length) => self.take_index(&tail[tail.len() - length as usize..]),
            None => self.stage = Stage::Walk,
        }
    }

    fn take_index(&mut self, bytes: &[u8]) {
        let index = FrameIndex::read(bytes).and_then(|index| {
            let start = (self.end - bytes.len() as u64).checked_sub(index.frame_bytes())?;
            Some((start, index))
        });
        let Some((start, index)) = index else {
            self.stage = Stage::Walk;
            return;
        };
        self.has_index = true;
        self.indexed.push((start, index));
        self.end = start;
        self.tail_bytes = TAIL_BYTES.min(start);
        if start == 0 {
            self.append_indexed();
        }
    }

    /// Puts the blocks that indexes tell of after those that are mapped.
    fn append_indexed(&mut self) {
        for (start, index) in std::mem::take(&mut self.indexed).into_iter().rev() {
            let mut at = start + u64::from(index.header_bytes);
            for entry in &index.entries {
                let block = Block {
                    at,
                    size_word: entry.size_word,
                    has_checksum: index.block_checksums,
                    is_legacy: false,
                    content_at: self.mapped_bytes(),
                    content_bytes: entry.content_bytes,
                    needs: self.blocks.len(),
                };
                at = block.end();
                self.blocks.push(block);
            }
        }
        self.stage = Stage::Complete;
    }

    fn walk(&mut self, bytes: &[u8]) -> Result<()> {
        self.held.extend_from_slice(bytes);
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
            self.reader.finish(&self.held)?;
            self.append_indexed();
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
                    (content_at - frame.content_at).min(HISTORY_BYTES)
                } else {
                    0
                };
                let corrupt = |source| Error::CorruptPage {
                    page: block.index,
                    source,
                };
                let content_bytes = match block.compressed {
                    true => measure(block.data, history).map_err(corrupt)?,
                    false => block.data.len() as u64,
                };
                if content_bytes > u64::from(frame.header.block_max_size) {
                    return Err(corrupt(BlockError::OutputOverrun));
                }
                let stored_bit = if block.compressed { 0 } else { STORED_BIT };
                self.blocks.push(Block {
                    at,
                    size_word: block.data.len() as u32 | stored_bit,
                    has_checksum: frame.header.block_checksums,
                    is_legacy: frame.header.legacy,
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
