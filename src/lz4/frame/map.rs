//! A map of the blocks of a file, for random access to its content. It does no input or output: it requests byte
//! ranges, which the caller supplies, so it serves files, blobs and HTTP servers.
//!
//! If all frames of a file have an index, the indexes are the map. Otherwise the file is walked up to the requested
//! content: this measures every block, whose content size follows only from its sequences, but decodes none.
//!
//! An index is trusted only about the content sizes of blocks, which are verified when a block is decoded. Everything
//! that the file states itself is compared with the file: the start, header and end of each frame, and the position and
//! size of all blocks from the start of the file to those that are read. [`FrameMap::trusting`] skips the comparison of
//! block sizes, which over HTTP costs a request each.

use std::ops::Range;

use super::index::FrameIndex;
use super::{
    BlockSize, ContentRead, FrameEvent, FrameHeader, FrameReader, HISTORY_BYTES, SIZE_BYTES, Step,
    word,
};
use crate::lz4::formats::{fault, measure};
use crate::lz4::{BlockError, Dictionary};
use crate::memory::{extend, reserve};
use crate::{Error, Result};

/// Bytes of the file that are requested at once where more than a field is needed.
pub(super) const WINDOW_BYTES: u64 = 1 << 20;
/// Bytes at the end of the file that are read first; most indexes fit.
pub(super) const TAIL_BYTES: u64 = 64 << 10;
/// Size fields within so many bytes are requested at once.
const SIZES_BYTES: u64 = 4 << 10;

/// A block and its place in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Position of the size field in the file.
    pub at: u64,
    pub size: BlockSize,
    pub has_checksum: bool,
    pub content_at: u64,
    pub content_bytes: u32,
    /// The first block that must be decoded for this one: itself, or the first linked block of the frame.
    pub needs: usize,
}

impl Block {
    /// Compares the size field in the file with that of the index.
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

    /// Returns the end of the block in the file, after its checksum.
    pub(super) fn end(&self) -> u64 {
        self.at + self.size.framed_bytes(self.has_checksum) as u64
    }

    pub(super) fn content_end(&self) -> u64 {
        self.content_at + u64::from(self.content_bytes)
    }
}

/// A map of the blocks of a file, as far as it is known.
#[derive(Debug)]
pub struct FrameMap {
    pub(super) blocks: Vec<Block>,
    /// Frames with an index at the end of the file, the last frame first, each with its start.
    pub(super) indexed: Vec<(u64, FrameIndex)>,
    pub(super) has_index: bool,
    /// True if block sizes of indexes are not compared.
    is_trusting: bool,
    /// Number of blocks from the start of the file whose sizes were compared.
    n_checked: usize,
    pub(super) stage: Stage,
    /// Bytes of the file.
    n_bytes: u64,
    /// Start of the first frame with an index that was found; the end of the file before one is found.
    pub(super) end: u64,
    /// Bytes before `end` that were read to find an index, with their position.
    pub(super) tail: (u64, Vec<u8>),
    /// An index that is not verified yet, and the start of its frame.
    pub(super) candidate: Option<(u64, FrameIndex)>,
    reader: FrameReader,
    /// Bytes not consumed yet, at the position of the reader.
    held: Vec<u8>,
    /// Bytes that the reader needs for its next piece.
    needed: usize,
    /// The frame that the walk is in.
    frame: Option<Frame>,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// These bytes are needed to search for the next index, from the end of the file.
    Tail(Range<u64>),
    /// The file is walked block by block.
    Walk,
    Complete,
    /// The error in a range, which every later call in that range returns again.
    Failed(Range<u64>, Error),
    /// The error of a block size that differs from the index, which makes the whole map unusable.
    Contradicted(Range<u64>, Error),
}

/// The frame that the walk is in.
#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    first: usize,
    content_at: u64,
}

impl FrameMap {
    /// Returns the empty map of a file of `n_bytes`.
    #[must_use]
    pub fn new(n_bytes: u64) -> Self {
        Self {
            blocks: Vec::new(),
            indexed: Vec::new(),
            has_index: false,
            is_trusting: false,
            n_checked: 0,
            // An empty file has no frame, which the walk reports.
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

    /// Returns the empty map of a file of `n_bytes` whose index is trusted about the sizes of blocks that are not read.
    /// That saves a read of four bytes for each block before the requested content. If the index of a malicious file
    /// contradicts its blocks, the content may differ from that of decompressing the whole file.
    #[must_use]
    pub fn trusting(n_bytes: u64) -> Self {
        Self {
            is_trusting: true,
            ..Self::new(n_bytes)
        }
    }

    /// Maps frames with this dictionary: those that state its id, and those that state none.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: impl Into<Option<Dictionary>>) -> Self {
        self.reader = self.reader.with_dictionary(dictionary);
        self
    }

    /// Returns the dictionary that was given.
    pub(super) const fn dictionary(&self) -> Option<&Dictionary> {
        self.reader.dictionary()
    }

    /// Returns the bytes of the file to supply next, to map the content up to `end`; `None` if it is mapped, or if the
    /// content ends earlier.
    #[must_use]
    pub fn wanted(&self, end: u64) -> Option<Range<u64>> {
        let is_mapped = self.mapped_bytes() >= end;
        match &self.stage {
            Stage::Tail(range) | Stage::Contradicted(range, _) => Some(range.clone()),
            Stage::Walk if !is_mapped => {
                // After the held bytes: a window, or all that the next piece needs.
                let start = self.reader.position() + self.held.len() as u64;
                let window = WINDOW_BYTES.max(self.needed as u64);
                Some(start..self.end.min(start + window))
            }
            Stage::Failed(range, _) if !is_mapped => Some(range.clone()),
            Stage::Complete => self.unchecked_sizes(end),
            _ => None,
        }
    }

    /// Returns the range of the next size fields to compare, of blocks whose content begins before `end`.
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

    /// Compares the size fields in `bytes`, a range that [`unchecked_sizes`](Self::unchecked_sizes) returned.
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

    /// Records that blocks were decoded, which compared their sizes.
    pub(super) fn note_decoded(&mut self, blocks: Range<usize>) {
        if blocks.start <= self.n_checked {
            self.n_checked = self.n_checked.max(blocks.end);
        }
    }

    /// Takes the bytes that were [`wanted`](Self::wanted).
    ///
    /// # Errors
    /// The errors of the frames, where the file is walked; [`Error::InvalidFrame`] if the size of a block differs from
    /// the index; [`Error::OutOfMemory`].
    pub fn supply(&mut self, bytes: &[u8]) -> Result<()> {
        let range = match &self.stage {
            // The start of a wanted range does not depend on its end, and the number of bytes supplied gives the end.
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
            Stage::Failed(_, error) | Stage::Contradicted(_, error) => Err(error.clone()),
        };
        if let Err(error) = &supplied {
            self.stage = match &self.stage {
                Stage::Complete | Stage::Contradicted(..) => {
                    Stage::Contradicted(range, error.clone())
                }
                _ => Stage::Failed(range, error.clone()),
            };
        }
        supplied
    }

    /// Returns the bytes of content that are mapped.
    #[must_use]
    pub fn mapped_bytes(&self) -> u64 {
        self.blocks.last().map_or(0, Block::content_end)
    }

    /// Returns the bytes of all content, once all of it is mapped.
    #[must_use]
    pub fn content_bytes(&self) -> Option<u64> {
        matches!(self.stage, Stage::Complete).then(|| self.mapped_bytes())
    }

    /// Returns true if an index was found, so that the file, or a part of it, need not be walked.
    #[must_use]
    pub const fn has_index(&self) -> bool {
        self.has_index
    }

    /// Starts a read of the content in `range`, which must be mapped.
    #[must_use]
    pub fn read(&self, range: Range<u64>) -> ContentRead {
        ContentRead::new(self, range)
    }

    /// Discards the indexes and continues with a walk of the file.
    fn forget_indexes(&mut self) {
        self.indexed.clear();
        self.has_index = false;
        self.end = self.n_bytes;
    }

    /// Appends the blocks of the indexes to the blocks of the walk.
    pub(super) fn append_indexed(&mut self) -> Result<()> {
        self.tail = (0, Vec::new());
        // The walk compared the sizes of its blocks.
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
                // The file has no frame at the start that the index gives.
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
                let dictionary = frame.header.dictionary(self.dictionary());
                let mut history = dictionary.map_or(0, Dictionary::n_bytes) as u64;
                if frame.header.linked {
                    history += content_at - frame.content_at;
                }
                let history = history.min(HISTORY_BYTES as u64);
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

/// Returns the error of a file that is shorter than its stated length.
pub(super) fn short(wanted: &Range<u64>, bytes: &[u8]) -> Error {
    Error::TruncatedFrame {
        at: wanted.start + bytes.len() as u64,
        needed: (wanted.end - wanted.start).saturating_sub(bytes.len() as u64),
    }
}
