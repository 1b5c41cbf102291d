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
    state: State,
    has_index: bool,
}

#[derive(Debug)]
enum State {
    /// To be found out whether an index ends at `end`: `range` is what is to be read.
    Tail {
        range: Range<u64>,
        end: u64,
    },
    /// Blocks are walked.
    Walk(Walk),
    Complete,
    /// What was found wrong in `range`, and is found again by whoever goes on.
    Failed {
        range: Range<u64>,
        error: Error,
    },
}

/// A walk over the file up to where the frames with an index start.
#[derive(Debug)]
struct Walk {
    reader: FrameReader,
    /// Bytes that were not consumed, at the position of the reader.
    held: Vec<u8>,
    needed: usize,
    end: u64,
    frame: Option<Frame>,
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
        let mut map = Self {
            blocks: Vec::new(),
            indexed: Vec::new(),
            state: State::Complete,
            has_index: false,
        };
        if n_bytes == 0 {
            // Nothing is no frame, as the walk will say.
            map.state = State::Walk(Walk::up_to(0));
        } else {
            map.look_before(n_bytes);
        }
        map
    }

    /// The bytes of the file that are to be supplied next for the content up to `end` to be mapped; `None` if it is,
    /// or if the content ends before.
    #[must_use]
    pub fn wanted(&self, end: u64) -> Option<Range<u64>> {
        match &self.state {
            State::Tail { range, .. } => Some(range.clone()),
            State::Walk(walk) if self.mapped_bytes() < end => Some(walk.wanted()),
            State::Failed { range, .. } if self.mapped_bytes() < end => Some(range.clone()),
            State::Walk(_) | State::Complete | State::Failed { .. } => None,
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
        let supplied = match std::mem::replace(&mut self.state, State::Complete) {
            State::Tail { range, end } => {
                self.take_tail(bytes, &range, end);
                Ok(())
            }
            State::Walk(walk) => self.walk(walk, bytes),
            State::Complete => Ok(()),
            State::Failed { error, .. } => Err(error),
        };
        supplied.inspect_err(|error| {
            let error = error.clone();
            self.state = State::Failed { range, error };
        })
    }

    /// Bytes of content that are mapped.
    #[must_use]
    pub fn mapped_bytes(&self) -> u64 {
        self.blocks.last().map_or(0, Block::content_end)
    }

    /// Bytes of all content, once all of it is mapped.
    #[must_use]
    pub fn content_bytes(&self) -> Option<u64> {
        matches!(self.state, State::Complete).then(|| self.mapped_bytes())
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

    /// Looks for an index that ends at `end`, where a frame starts or the file ends.
    fn look_before(&mut self, end: u64) {
        if end == 0 {
            self.append_indexed();
            return;
        }
        self.state = State::Tail {
            range: end.saturating_sub(TAIL_BYTES)..end,
            end,
        };
    }

    fn take_tail(&mut self, bytes: &[u8], range: &Range<u64>, end: u64) {
        let start = FrameIndex::length(bytes).and_then(|length| end.checked_sub(length));
        let frame = match start {
            Some(start) if start < range.start => {
                self.state = State::Tail {
                    range: start..end,
                    end,
                };
                return;
            }
            Some(start) => FrameIndex::read(&bytes[(start - range.start) as usize..])
                .and_then(|index| Some((start.checked_sub(index.frame_bytes())?, index))),
            None => None,
        };
        match frame {
            Some((start, index)) => {
                self.has_index = true;
                self.indexed.push((start, index));
                self.look_before(start);
            }
            None => {
                self.state = State::Walk(Walk::up_to(end));
            }
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
        self.state = State::Complete;
    }

    fn walk(&mut self, mut walk: Walk, bytes: &[u8]) -> Result<()> {
        walk.held.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let position = walk.reader.position();
            match walk.reader.step(&walk.held[at..])? {
                Step::More { consumed, needed } => {
                    at += consumed;
                    walk.needed = needed;
                    if consumed == 0 {
                        break;
                    }
                }
                Step::Event { consumed, event } => {
                    self.note(&mut walk.frame, position, &event)?;
                    at += consumed;
                }
            }
        }
        walk.held.drain(..at);
        if walk.reader.position() + walk.held.len() as u64 == walk.end {
            walk.reader.finish(&walk.held)?;
            self.append_indexed();
        } else {
            self.state = State::Walk(walk);
        }
        Ok(())
    }

    fn note(&mut self, frame: &mut Option<Frame>, at: u64, event: &FrameEvent<'_>) -> Result<()> {
        let content_at = self.mapped_bytes();
        match (event, frame) {
            (FrameEvent::Header(header), frame) => {
                *frame = Some(Frame {
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

impl Walk {
    fn up_to(end: u64) -> Self {
        Self {
            reader: FrameReader::new(),
            held: Vec::new(),
            needed: 1,
            end,
            frame: None,
        }
    }

    /// What follows the bytes held: a window, or all that the next piece needs.
    fn wanted(&self) -> Range<u64> {
        let start = self.reader.position() + self.held.len() as u64;
        start..self.end.min(start + WINDOW_BYTES.max(self.needed as u64))
    }
}

/// The file is shorter than it was said to be.
pub(super) fn short(wanted: &Range<u64>, bytes: &[u8]) -> Error {
    Error::TruncatedFrame {
        at: wanted.start + bytes.len() as u64,
        needed: (wanted.end - wanted.start).saturating_sub(bytes.len() as u64),
    }
}
