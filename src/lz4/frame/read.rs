//! Parsing the structure of frames: the only reader of headers and block sizes. [`super::FrameDecoder`] decodes the
//! blocks.

use super::{
    BlockSize, DetectedFormat, FrameHeader, LEGACY_BLOCK_SIZE, LEGACY_MAGIC, MAGIC,
    SKIPPABLE_MAGIC, WORD_BYTES as WORD, checksum, word,
};
use crate::lz4::Dictionary;
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
    dictionary: Option<Dictionary>,
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

/// The next piece of a frame, recognised by its first bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    Header(FrameHeader),
    Block(BlockSize),
    End,
    Skippable { magic: u32, length: u32 },
}

/// The result of [`FrameReader::peek`].
pub(super) enum Peek {
    /// A piece and its length in bytes, of a skippable frame without its content.
    Piece(Piece, usize),
    /// More bytes are needed to recognise the piece, at least this many.
    Needed(usize),
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

    /// Accepts frames that state this dictionary, besides those that state none.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: impl Into<Option<Dictionary>>) -> Self {
        self.dictionary = dictionary.into();
        self
    }

    /// Returns the dictionary that was given.
    pub(super) const fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    /// Returns the bytes consumed so far.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Parses the next piece of `input`, which starts with the first byte not consumed yet.
    ///
    /// # Errors
    /// [`Error::NotLz4`], [`Error::InvalidFrame`], [`Error::ChecksumMismatch`], [`Error::DictionaryNeeded`],
    /// [`Error::WrongDictionary`]; the reader cannot be used after an error.
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>> {
        if let State::Skippable { left } = self.state {
            return Ok(self.skip(left, input));
        }
        let (piece, total) = match self.peek(input)? {
            Peek::Piece(piece, total) => (piece, total),
            Peek::Needed(needed) => {
                return Ok(Step::More {
                    consumed: 0,
                    needed,
                });
            }
        };
        let Some(bytes) = input.get(..total) else {
            return Ok(Step::More {
                consumed: 0,
                needed: total - input.len(),
            });
        };
        let event = match piece {
            Piece::Header(header) => FrameEvent::Header(header),
            Piece::Block(size) => FrameEvent::Block(FrameBlock {
                index: self.n_blocks,
                compressed: size.is_compressed(),
                data: block_data(bytes, size)?,
            }),
            Piece::End => FrameEvent::End {
                content_checksum: word(bytes, WORD),
            },
            Piece::Skippable { magic, length } => FrameEvent::Skippable { magic, length },
        };
        self.pass(piece, total);
        Ok(Step::Event {
            consumed: total,
            event,
        })
    }

    /// Recognises the next piece by its first bytes. `start` begins with the first byte not consumed yet and need not contain
    /// the whole piece.
    ///
    /// # Errors
    /// As [`step`](Self::step), but for checksums of blocks.
    pub(super) fn peek(&self, start: &[u8]) -> Result<Peek> {
        match self.state {
            State::Blocks(header) => self.peek_block(header, start),
            State::Magic | State::Skippable { .. } => self.peek_magic(start),
        }
    }

    /// Moves past a piece that [`peek`](Self::peek) returned with this length.
    pub(super) fn pass(&mut self, piece: Piece, n_bytes: usize) {
        self.position += n_bytes as u64;
        match piece {
            Piece::Header(header) => {
                self.state = State::Blocks(header);
                self.n_frames += 1;
                self.n_blocks = 0;
            }
            Piece::Block(_) => self.n_blocks += 1,
            Piece::End => self.state = State::Magic,
            Piece::Skippable { length, .. } => {
                self.n_frames += 1;
                if length > 0 {
                    self.state = State::Skippable { left: length };
                }
            }
        }
    }

    /// Moves back to the block of index `n_blocks` in the frame of `header`, whose size field is at `position`, before another
    /// frame has begun.
    #[cfg(gpu_engine)]
    pub(crate) fn back_to(&mut self, header: FrameHeader, n_blocks: usize, position: u64) {
        self.state = State::Blocks(header);
        (self.n_blocks, self.position) = (n_blocks, position);
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

    fn peek_magic(&self, start: &[u8]) -> Result<Peek> {
        let Some(magic) = word(start, 0) else {
            return Ok(Peek::Needed(WORD - start.len()));
        };
        match magic {
            MAGIC => {
                let at = self.position + WORD as u64;
                match FrameHeader::read(&start[WORD..], at, self.dictionary()) {
                    Ok((header, length)) => Ok(Peek::Piece(Piece::Header(header), WORD + length)),
                    Err(Ok(needed)) => Ok(Peek::Needed(needed)),
                    Err(Err(error)) => Err(error),
                }
            }
            LEGACY_MAGIC => Ok(Peek::Piece(Piece::Header(FrameHeader::LEGACY), WORD)),
            _ if magic & !0xf == SKIPPABLE_MAGIC => Ok(match word(start, WORD) {
                Some(length) => Peek::Piece(Piece::Skippable { magic, length }, 2 * WORD),
                None => Peek::Needed(2 * WORD - start.len()),
            }),
            _ => Err(self.not_lz4(start)),
        }
    }

    fn peek_block(&self, header: FrameHeader, start: &[u8]) -> Result<Peek> {
        let Some(word) = word(start, 0) else {
            return Ok(Peek::Needed(WORD - start.len()));
        };
        if header.legacy && word > LEGACY_MAX_BLOCK {
            return Ok(Peek::Piece(Piece::End, 0));
        }
        if word == 0 && !header.legacy {
            let n_words = 1 + usize::from(header.content_checksum);
            return Ok(Peek::Piece(Piece::End, n_words * WORD));
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
        Ok(Peek::Piece(Piece::Block(size), total))
    }

    fn skip<'a>(&mut self, left: u32, input: &[u8]) -> Step<'a> {
        let consumed = input.len().min(left as usize);
        self.position += consumed as u64;
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
