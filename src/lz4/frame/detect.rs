//! Detection of formats that are not LZ4 frames. Raw blocks have no magic number; one is detected by decoding to its
//! end without an error.

use crate::lz4::formats::{measure_block, split_size};

/// The format of bytes that are not an LZ4 frame, as far as it can be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DetectedFormat {
    /// No known format.
    #[default]
    Unknown,
    /// A raw LZ4 block.
    Block {
        /// Bytes of its content.
        n_bytes: u64,
    },
    /// An LZ4 block with its size in front.
    SizePrefixed {
        /// Bytes of its content.
        n_bytes: u64,
    },
    /// Another format, by its name.
    Other(&'static str),
}

/// Completes a sentence that says that bytes are not an LZ4 frame: with the detected format, and a remedy.
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
    /// Detects the format of `bytes`, which are not an LZ4 frame. Reads all of them.
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
            // Two arbitrary bytes are too often a valid block.
            Ok(n_bytes) if n_bytes > 1 => Self::Block { n_bytes },
            _ => Self::Unknown,
        }
    }

    /// Detects formats that have a magic number, from the start of `bytes`.
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
