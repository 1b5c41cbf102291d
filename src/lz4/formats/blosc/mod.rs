//! Chunks of [C-Blosc 1](https://github.com/Blosc/c-blosc), the container of Zarr and PyTables, with LZ4 inside.
//!
//! All numbers are little-endian. A chunk is a header of 16 bytes, the offset of each block from the start of the chunk
//! in four bytes, and the blocks ([format](https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst)):
//!
//! | bytes | what |
//! |---|---|
//! | 1, 1 | version of the format, 2, and that of the compressor's format, 1 |
//! | 1 | flags: 1 for byte shuffle, 2 for content that is stored behind the header, 4 for bit shuffle, 16 for blocks that are not split; the upper three bits have the number of the compressor |
//! | 1 | bytes of an element |
//! | 4, 4, 4 | bytes of the content, of the content of a block, and of the chunk |
//!
//! A block holds its content, shuffled, in one part, or split in as many parts as an element has bytes. A part is its
//! length in four bytes and an LZ4 block, or the content itself if the length is that of the content.

mod read;
mod write;

pub use read::decompress;
pub use write::compress;

use super::shuffle;
use crate::lz4::Level;

const HEADER_BYTES: usize = 16;
const VERSION: u8 = 2;
const LZ4_VERSION: u8 = 1;

const BYTE_SHUFFLE: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLE: u8 = 4;
const RESERVED: u8 = 8;
const NOT_SPLIT: u8 = 16;
/// The number of the compressor starts at this bit.
const COMPRESSOR_SHIFT: u32 = 5;
/// The compressors by their numbers.
const COMPRESSORS: [&str; 5] = ["blosclz", "lz4", "snappy", "zlib", "zstd"];
const LZ4: u8 = 1;

/// Elements of more bytes are not split, nor are blocks whose parts would be shorter than [`LEAST_PART`].
const MOST_PARTS: usize = 16;
const LEAST_PART: usize = 128;
const LENGTH_BYTES: usize = 4;

/// The shuffle of the elements of content before it is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shuffle {
    /// No shuffle.
    None,
    /// Byte shuffle ([`super::shuffle::shuffle`]).
    #[default]
    Byte,
    /// Bit shuffle ([`super::shuffle::bit_shuffle`]).
    Bit,
}

impl Shuffle {
    /// Returns what a block of `block_bytes` needs: elements of one byte have no bytes to shuffle.
    fn of_block(self, element_size: usize, block_bytes: usize) -> Self {
        match self {
            Self::Byte if element_size == 1 => Self::None,
            // Other numbers of elements are not shuffled at all.
            Self::Bit if !(block_bytes / element_size).is_multiple_of(shuffle::GROUP) => Self::None,
            other => other,
        }
    }
}

/// Options of a chunk to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloscOptions {
    /// Bytes of an element, which shuffles need. More than 255 count as 1, as in C-Blosc. Default 1.
    pub element_size: usize,
    /// Default [`Shuffle::Byte`].
    pub shuffle: Shuffle,
    /// Bytes of content of a block, which is rounded down to whole elements; 0 for a suitable one. Default 0.
    pub block_size: usize,
    /// Level of the LZ4 blocks; `None` stores the content. Default [`Level::Sequential`].
    pub level: Option<Level>,
}

impl Default for BloscOptions {
    fn default() -> Self {
        Self {
            element_size: 1,
            shuffle: Shuffle::default(),
            block_size: 0,
            level: Some(Level::Sequential),
        }
    }
}

/// Returns the number of parts of a block of a chunk with these flags.
fn n_parts(flags: u8, element_size: usize, block_bytes: usize, is_last_and_short: bool) -> usize {
    let is_split = flags & NOT_SPLIT == 0
        && element_size <= MOST_PARTS
        && block_bytes / element_size >= LEAST_PART
        && !is_last_and_short;
    if is_split { element_size } else { 1 }
}
