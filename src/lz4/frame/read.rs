//! Parsing the structure of frames: the only reader of headers and block sizes. [`super::FrameDecoder`] decodes the
//! blocks.

use super::{
    BlockSize, DetectedFormat, FrameHeader, LEGACY_BLOCK_SIZE, LEGACY_MAGIC, MAGIC,
    SKIPPABLE_MAGIC, WORD_BYTES as WORD, checksum, word,
};
use crate::{Error, Result};

/// Longest compressed block of a legacy frame; a larger size is the magic number of the next frame.
const LEGACY_MAX_BLOCK: u32 = LEGACY_BLOCK_SIZE + LEGACY_BLOCK_SIZE / 255 + 16;

/// Parses frames piece by piece, from slices that the caller supplies, and copies none of their bytes.
///
/// Verifies the checksums of headers and blocks. Checksums of contents are left to the decoder.
#[derive(Debug, Clone, Default)]
pub struct FrameReader {
    state: State,
    /// Bytes consumed so far.
    position: u64,
    n_frames: u64,
    n_blocks: usize,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Magic,
    Blocks(FrameHeader),
    Skippable {
        left: u32,
    },
}

/// The result of [`FrameReader::step`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// A piece of a frame, in the first `consumed` bytes of the input.
    Event {
        /// Bytes to drop from the start of the input.
        consumed: usize,
        /// The piece.
        event: FrameEvent<'a>,
    },
    /// `consumed` bytes can be dropped, since they were skippable; the next piece needs at least `needed` more bytes
    /// than the input has.
    More {
        /// Bytes to drop from the start of the input.
        consumed: usize,
        /// Bytes to add, at least 1.
        needed: usize,
    },
}

impl<'a> Step<'a> {
    /// Returns the bytes consumed and the event, if there is one; `None` if the next piece needs more input.
    pub(super) fn progress(self) -> Option<(usize, Option<FrameEvent<'a>>)> {
        match self {
            Self::More { consumed: 0, .. } => None,
            Self::More { consumed, .. } => Some((consumed, None)),
            Self::Event { consumed, event } => Some((consumed, Some(event))),
        }
    }
}

/// A piece of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameEvent<'a> {
    /// The header of a frame.
    Header(FrameHeader),
    /// A block of a frame.
    Block(FrameBlock<'a>),
    /// The end of a frame.
    End {
        /// Checksum of the content, if the frame has one.
        content_checksum: Option<u32>,
    },
    /// A skippable frame, whose content is dropped.
    Skippable {
        /// Its magic number.
        magic: u32,
        /// Bytes of its content, after magic number and length.
        length: u32,
    },
}

/// A block in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameBlock<'a> {
    /// Index of the block in its frame, from 0.
    pub index: usize,
    /// True if `data` is an LZ4 block, false if it is the content itself.
    pub compressed: bool,
    /// The bytes of the block.
    pub data: &'a [u8],
}

impl FrameBlock<'_> {
    /// Returns the size field of this block, of a frame that is not a legacy frame.
    pub(super) const fn size(&self) -> BlockSize {
        BlockSize::of(self.data.len(), self.compressed)
    }

    /// Returns the most bytes of content that the block can have in a frame with this header.
    pub(super) fn max_content(&self, header: &FrameHeader) -> usize {
        self.size().max_content(header)
    }
}

impl FrameReader {
    /// Returns a reader at the start of the first frame.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the bytes consumed so far.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Parses the next piece of `input`, which starts with the first byte not consumed yet.
    ///
    /// # Errors
    /// [`Error::NotLz4`], [`Error::InvalidFrame`], [`Error::ChecksumMismatch`], [`Error::DictionaryNeeded`]; the reader
    /// cannot be used after an error.
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>> {
        let step = match self.state {
            State::Magic => self.magic(input),
            State::Blocks(header) => self.block(header, input),
            State::Skippable { left } => Ok(self.skip(left, input)),
        }?;
        let (Step::Event { consumed, .. } | Step::More { consumed, .. }) = step;
        self.position += consumed as u64;
        Ok(step)
    }

    /// Returns the most bytes of content of the block at the start of `input`, which is as for [`step`](Self::step); 0
    /// if there is no block, or one that is too long.
    pub(super) fn next_max_content(&self, input: &[u8]) -> usize {
        let (State::Blocks(header), Some(word)) = (self.state, word(input, 0)) else {
            return 0;
        };
        let size = BlockSize::new(word, header.legacy);
        if size.n_bytes() > header.block_max_size as usize && !header.legacy {
            return 0;
        }
        size.max_content(&header)
    }

    /// Ends the input: nothing follows `rest`, the bytes not consumed yet, which were too few for [`Self::step`].
    /// Returns the end of a legacy frame, which has no end mark.
    ///
    /// # Errors
    /// [`Error::TruncatedFrame`] inside a frame or before the first one; [`Error::NotLz4`] or [`Error::InvalidFrame`]
    /// if `rest` cannot start a frame.
    pub fn finish(&mut self, rest: &[u8]) -> Result<Option<FrameEvent<'static>>> {
        let at = self.position + rest.len() as u64;
        match (&self.state, rest) {
            (State::Magic, []) if self.n_frames > 0 => return Ok(None),
            (State::Blocks(header), []) if header.legacy => {
                self.state = State::Magic;
                return Ok(Some(FrameEvent::End {
                    content_checksum: None,
                }));
            }
            (State::Magic, _) if !starts_magic(rest) => return Err(self.not_lz4(rest)),
            _ => {}
        }
        match self.step(rest)? {
            Step::More { needed, .. } => Err(Error::TruncatedFrame {
                at,
                needed: needed as u64,
            }),
            Step::Event { .. } => Err(Error::InvalidFrame {
                what: "unread piece",
                value: 0,
                at,
            }),
        }
    }

    fn magic<'a>(&mut self, input: &[u8]) -> Result<Step<'a>> {
        let Some(magic) = word(input, 0) else {
            return Ok(more(input, WORD));
        };
        match magic {
            MAGIC => self.descriptor(&input[WORD..]),
            LEGACY_MAGIC => Ok(self.start(FrameHeader::LEGACY, WORD)),
            _ if magic & !0xf == SKIPPABLE_MAGIC => {
                let Some(length) = word(input, WORD) else {
                    return Ok(more(input, 2 * WORD));
                };
                self.n_frames += 1;
                if length > 0 {
                    self.state = State::Skippable { left: length };
                }
                let event = FrameEvent::Skippable { magic, length };
                Ok(Step::Event {
                    consumed: 2 * WORD,
                    event,
                })
            }
            _ => Err(self.not_lz4(input)),
        }
    }

    fn descriptor<'a>(&mut self, input: &[u8]) -> Result<Step<'a>> {
        match FrameHeader::read(input, self.position + WORD as u64) {
            Ok((header, length)) => Ok(self.start(header, WORD + length)),
            Err(Ok(needed)) => Ok(Step::More {
                consumed: 0,
                needed,
            }),
            Err(Err(error)) => Err(error),
        }
    }

    fn start<'a>(&mut self, header: FrameHeader, consumed: usize) -> Step<'a> {
        self.state = State::Blocks(header);
        self.n_frames += 1;
        self.n_blocks = 0;
        Step::Event {
            consumed,
            event: FrameEvent::Header(header),
        }
    }

    fn block<'a>(&mut self, header: FrameHeader, input: &'a [u8]) -> Result<Step<'a>> {
        let Some(word) = word(input, 0) else {
            return Ok(more(input, WORD));
        };
        if header.legacy && word > LEGACY_MAX_BLOCK {
            self.state = State::Magic;
            let event = FrameEvent::End {
                content_checksum: None,
            };
            return Ok(Step::Event { consumed: 0, event });
        }
        if word == 0 && !header.legacy {
            return Ok(self.end(header, input));
        }
        let size = BlockSize::new(word, header.legacy);
        if size.n_bytes() > header.block_max_size as usize && !header.legacy {
            return Err(Error::InvalidFrame {
                what: "block size",
                value: size.n_bytes() as u64,
                at: self.position,
            });
        }
        let total = size.framed_bytes(header.block_checksums);
        let Some(framed) = input.get(..total) else {
            return Ok(more(input, total));
        };
        let block = FrameBlock {
            index: self.n_blocks,
            compressed: size.is_compressed(),
            data: block_data(framed, size)?,
        };
        self.n_blocks += 1;
        Ok(Step::Event {
            consumed: total,
            event: FrameEvent::Block(block),
        })
    }

    fn end<'a>(&mut self, header: FrameHeader, input: &[u8]) -> Step<'a> {
        let total = if header.content_checksum {
            2 * WORD
        } else {
            WORD
        };
        if input.len() < total {
            return more(input, total);
        }
        self.state = State::Magic;
        let content_checksum = word(&input[..total], WORD);
        Step::Event {
            consumed: total,
            event: FrameEvent::End { content_checksum },
        }
    }

    fn skip<'a>(&mut self, left: u32, input: &[u8]) -> Step<'a> {
        let consumed = input.len().min(left as usize);
        let left = left - consumed as u32;
        if left > 0 {
            self.state = State::Skippable { left };
            return Step::More {
                consumed,
                needed: left as usize,
            };
        }
        self.state = State::Magic;
        Step::More {
            consumed,
            needed: WORD.saturating_sub(input.len() - consumed).max(1),
        }
    }

    fn not_lz4(&self, input: &[u8]) -> Error {
        let mut bytes = [0; WORD];
        let n_bytes = input.len().min(WORD);
        bytes[..n_bytes].copy_from_slice(&input[..n_bytes]);
        let magic = u32::from_le_bytes(bytes);
        if self.n_frames == 0 {
            let detected = DetectedFormat::of_start(input);
            return Error::NotLz4 { magic, detected };
        }
        Error::InvalidFrame {
            what: "data after the frame",
            value: magic.into(),
            at: self.position,
        }
    }
}

/// Returns the data of a block. `framed` has the size field before the data and, if the block has one, the checksum
/// after it.
///
/// # Errors
/// [`Error::ChecksumMismatch`].
pub(super) fn block_data(framed: &[u8], size: BlockSize) -> Result<&[u8]> {
    let end = WORD + size.n_bytes();
    let data = &framed[WORD..end];
    verify("block", word(framed, end), || checksum(data))?;
    Ok(data)
}

/// Fails if the stored checksum differs from the computed one.
pub(super) fn verify(
    what: &'static str,
    stored: Option<u32>,
    computed: impl FnOnce() -> u32,
) -> Result<()> {
    let Some(stored) = stored else { return Ok(()) };
    let computed = computed();
    if stored == computed {
        return Ok(());
    }
    Err(Error::ChecksumMismatch {
        what,
        stored,
        computed,
    })
}

/// Returns true if `rest` can be the start of a magic number, or is long enough to contain one.
fn starts_magic(rest: &[u8]) -> bool {
    let skippable = (0..16).map(|low| SKIPPABLE_MAGIC | low);
    [MAGIC, LEGACY_MAGIC]
        .into_iter()
        .chain(skippable)
        .any(|magic| magic.to_le_bytes().starts_with(rest))
        || rest.len() >= WORD
}

/// Requests the bytes that `input` lacks to be `total` bytes long.
fn more<'a>(input: &[u8], total: usize) -> Step<'a> {
    Step::More {
        consumed: 0,
        needed: total - input.len(),
    }
}
