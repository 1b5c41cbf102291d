//! What bytes are that are no LZ4 frame. Blocks carry no mark, so one is recognised by decoding to the end without a fault.

use crate::lz4::formats::{measure_block, split_size};

/// What bytes that are no LZ4 frame seem to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DetectedFormat {
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
impl std::fmt::Display for DetectedFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Block { n_bytes } => write!(
                f,
                "; it is a raw LZ4 block of {n_bytes} bytes: set the format to \"block\""
            ),
            Self::SizePrefixed { n_bytes } => write!(
                f,
                "; it is an LZ4 block after its size, {n_bytes} bytes: set the format to \"size-prefixed\""
            ),
            Self::Other(name) => write!(f, "; it is {name}"),
        }
    }
}

impl DetectedFormat {
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
