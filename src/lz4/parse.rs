//! The parameters of the canonical parse.

use super::Level;
use crate::{Error, Result};

/// Smallest page and block size in bytes.
pub const MIN_PAGE_SIZE: u32 = 4096;
/// Largest page size in bytes: the reach of an LZ4 offset, and what the kernels take.
pub const MAX_PAGE_SIZE: u32 = 65_536;
/// Largest block size in bytes that a frame can hold.
pub const MAX_BLOCK_SIZE: u32 = 4 << 20;

/// The last match starts at least this many bytes before the end of the block.
pub(super) const MATCH_START_MARGIN: usize = 12;
/// The last bytes of a block are literals.
pub(super) const LAST_LITERALS: usize = 5;
/// Shortest match that LZ4 can express.
pub(super) const MIN_MATCH: usize = 4;

pub(super) const HASH_MULTIPLIER: u32 = 2_654_435_761;
/// Of the fifth byte, where it is hashed. Its multiples by 1 to 255 lie so far from 0 that of positions whose words
/// agree, and of whose products the upper 23 bits, the fifth bytes agree too: the search relies on it.
pub(super) const FIFTH_MULTIPLIER: u32 = 2_246_822_519;
/// Blocks above this hash five bytes: with more to choose from, matches of four bytes are rarely worth their sequence,
/// and would put better ones out of the table.
const HASHES_FOUR_BYTES: u32 = 4 << 10;

/// By block size class (the next power of two): class in bytes, `bucket_bits` of Fast, whether Fast is lazy,
/// `bucket_bits` of High. Being lazy gains as much as four times the buckets where matches may lie far back.
const CLASSES: [(u32, u32, bool, u32); 6] = [
    (4 << 10, 9, false, 11),
    (8 << 10, 10, false, 11),
    (16 << 10, 10, false, 11),
    (32 << 10, 11, false, 11),
    (64 << 10, 11, true, 11),
    (MAX_BLOCK_SIZE, 13, false, 14),
];

/// Parameters of the canonical parse for one page size and level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parse {
    page_size: u32,
    bucket_bits: u32,
    tag_bits: u32,
    hash_bytes: u32,
    lazy: bool,
    backward: bool,
    sequential: bool,
}

impl Parse {
    /// Parameters for blocks of at most `page_size` bytes, 4096 to 4 MiB.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `page_size` is out of range.
    #[inline(never)]
    pub fn new(page_size: u32, level: Level) -> Result<Self> {
        let class = page_size.checked_next_power_of_two().unwrap_or(u32::MAX);
        let row = CLASSES.iter().find(|&&(largest, ..)| class <= largest);
        let (Some(&(_, fast, fast_lazy, high)), true) = (row, page_size >= MIN_PAGE_SIZE) else {
            let expected = "give 4096 to 4194304 bytes";
            return Err(Error::invalid("block size", page_size.into(), expected));
        };
        let high_level = level == Level::High;
        Ok(Self {
            page_size,
            bucket_bits: if high_level { high } else { fast },
            tag_bits: 16_u32.saturating_sub(class.trailing_zeros()),
            hash_bytes: if class > HASHES_FOUR_BYTES { 5 } else { 4 },
            lazy: high_level || fast_lazy,
            backward: high_level,
            sequential: level == Level::Sequential,
        })
    }

    /// Largest block in bytes.
    #[must_use]
    pub const fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Base-2 logarithm of the number of buckets, of two entries each.
    #[must_use]
    pub const fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }

    /// Bits of hash that an entry keeps beside its position.
    #[must_use]
    pub const fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// Bytes that are hashed: 4 or 5.
    #[must_use]
    pub const fn hash_bytes(&self) -> u32 {
        self.hash_bytes
    }

    /// Whether a match gives way to a longer one at the next position.
    #[must_use]
    pub const fn lazy(&self) -> bool {
        self.lazy
    }

    /// Whether a match is extended backwards over the literals before it.
    #[must_use]
    pub const fn backward(&self) -> bool {
        self.backward
    }

    /// Whether this is not the canonical parse, but that of [`Level::Sequential`]; table and rules are its own.
    #[must_use]
    pub const fn sequential(&self) -> bool {
        self.sequential
    }

    /// Whether blocks are of the large kind, with 32-bit entries.
    #[must_use]
    pub const fn is_large(&self) -> bool {
        self.page_size > MAX_PAGE_SIZE
    }
}
