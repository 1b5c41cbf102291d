//! LZ4 blocks outside frames: raw, or with their size in front as `lz4_flex` and others write them. They carry no mark,
//! so one is recognised by decoding to the end without a fault.

use super::word;
use crate::lz4::BlockError;
use crate::lz4::decode::decode;
use crate::lz4::parse::MIN_MATCH;
use crate::memory::zeros;
use crate::{Error, Result};

const SIZE_BYTES: usize = 4;
const TOKEN_MAX: usize = 15;

/// What compressed bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// LZ4 frames, legacy and skippable ones too: what a `.lz4` file is.
    #[default]
    Frame,
    /// One LZ4 block and nothing else.
    Block,
    /// One LZ4 block after the size of its content, four bytes, little-endian.
    SizePrefixed,
}

/// What bytes that are no LZ4 frame seem to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Seen {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// A raw LZ4 block.
    Block {
        /// Its content in bytes.
        n_bytes: u64,
    },
    /// An LZ4 block with its size in front.
    SizePrefixed {
        /// Its content in bytes.
        n_bytes: u64,
    },
    /// Data of another format, by its name.
    Other(&'static str),
}

/// The end of a sentence that says that something is no LZ4 frame: what it is and what to do.
impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Block { n_bytes } => write!(
                f,
                "; it is a raw LZ4 block of {n_bytes} bytes: give the format \"block\""
            ),
            Self::SizePrefixed { n_bytes } => write!(
                f,
                "; it is an LZ4 block with its size, {n_bytes} bytes, in front: give the format \"size-prefixed\""
            ),
            Self::Other(name) => write!(f, "; it is {name}"),
        }
    }
}

impl Seen {
    /// What `bytes`, which are no LZ4 frame, seem to be. Reads all of them.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let by_start = Self::of_start(bytes);
        if by_start != Self::Unknown {
            return by_start;
        }
        if let Some((size, block)) = split_size(bytes)
            && measure_block(block) == Ok(size)
        {
            return Self::SizePrefixed { n_bytes: size };
        }
        match measure_block(bytes) {
            // Two bytes are a block too often.
            Ok(n_bytes) if n_bytes > 1 => Self::Block { n_bytes },
            _ => Self::Unknown,
        }
    }

    /// The same of nothing but the start of them.
    pub(super) fn of_start(bytes: &[u8]) -> Self {
        const KNOWN: [(&[u8], &str); 6] = [
            (&[0x1f, 0x8b, 8], "gzip"),
            (&[0x28, 0xb5, 0x2f, 0xfd], "Zstandard"),
            (b"PK\x03\x04", "a zip archive"),
            (b"BZh", "bzip2"),
            (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
            (&[0xff, 6, 0, 0, b's', b'N', b'a', b'P'], "framed Snappy"),
        ];
        let known = KNOWN
            .into_iter()
            .find(|(start, _)| bytes.starts_with(start));
        known.map_or(Self::Unknown, |(_, name)| Self::Other(name))
    }
}

/// Decompresses one block of `format`, which is not [`Format::Frame`], to at most `limit` bytes.
///
/// # Errors
/// [`Error::CorruptPage`] for page 0; [`Error::OutputLimit`]; [`Error::TruncatedFrame`] without a whole size;
/// [`Error::ContentSizeMismatch`] if the block holds another size.
pub fn decompress_block_of(format: Format, bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>> {
    let (stored, block) = match format {
        Format::SizePrefixed => {
            let (size, block) = split_size(bytes).ok_or(Error::TruncatedFrame {
                at: bytes.len() as u64,
                needed: (SIZE_BYTES - bytes.len().min(SIZE_BYTES)) as u64,
            })?;
            (Some(size), block)
        }
        Format::Block | Format::Frame => (None, bytes),
    };
    let corrupt = |source| Error::CorruptPage { page: 0, source };
    let actual = measure_block(block).map_err(corrupt)?;
    match (stored, limit) {
        (Some(stored), _) if stored != actual => {
            return Err(Error::ContentSizeMismatch { stored, actual });
        }
        (_, Some(limit)) if actual > limit => return Err(Error::OutputLimit { limit }),
        _ => {}
    }
    let too_large = |_| Error::OutputLimit {
        limit: usize::MAX as u64,
    };
    let mut content = zeros(usize::try_from(actual).map_err(too_large)?)?;
    let length = decode(block, &mut content, 0).map_err(corrupt)?;
    content.truncate(length);
    Ok(content)
}

/// Bytes of content of a block that stands alone, and the fault that decoding it would meet.
///
/// # Errors
/// Any [`BlockError`] but those of a page that is too long or too short.
pub fn measure_block(block: &[u8]) -> Result<u64, BlockError> {
    measure(block, 0)
}

/// The same for a block whose matches may reach `history` bytes back.
pub(crate) fn measure(block: &[u8], history: u64) -> Result<u64, BlockError> {
    let (mut at, mut n_bytes) = (0, 0_u64);
    loop {
        let token = usize::from(*block.get(at).ok_or(BlockError::Truncated)?);
        let (n_literals, from) = length(block, at + 1, token >> 4)?;
        n_bytes += n_literals;
        at = from.saturating_add(usize::try_from(n_literals).unwrap_or(usize::MAX));
        match block.len().checked_sub(at) {
            None => return Err(BlockError::Truncated),
            Some(0) => return Ok(n_bytes),
            Some(_) => {}
        }
        let offset = block.get(at..at + 2).ok_or(BlockError::Truncated)?;
        match u64::from(offset[0]) | u64::from(offset[1]) << 8 {
            0 => return Err(BlockError::ZeroOffset),
            offset if offset > history + n_bytes => return Err(BlockError::OffsetTooFar),
            _ => {}
        }
        let (extra, next) = length(block, at + 2, token & TOKEN_MAX)?;
        n_bytes += extra + MIN_MATCH as u64;
        at = next;
    }
}

/// A length that starts with `half` of a token and may go on at `at`; and where what follows it starts.
fn length(block: &[u8], mut at: usize, half: usize) -> Result<(u64, usize), BlockError> {
    let mut length = half as u64;
    if half == TOKEN_MAX {
        loop {
            let byte = *block.get(at).ok_or(BlockError::Truncated)?;
            at += 1;
            length += u64::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Ok((length, at))
}

/// The size in front of a block, and the block.
fn split_size(bytes: &[u8]) -> Option<(u64, &[u8])> {
    Some((u64::from(word(bytes, 0)?), &bytes[SIZE_BYTES..]))
}
