//! Parameters of the canonical parse by block size and level.

use super::Level;
use crate::{Error, Result};

/// Smallest page and block size in bytes.
pub const MIN_PAGE_SIZE: u32 = 4096;
/// Largest page size in bytes: the largest LZ4 offset plus one, and the largest page that the kernels support.
pub const MAX_PAGE_SIZE: u32 = 65_536;
/// Returns true for a block size that is a page size, which the kernels take.
pub(crate) const fn is_page_size(block_size: u32) -> bool {
    block_size.is_power_of_two() && block_size >= MIN_PAGE_SIZE && block_size <= MAX_PAGE_SIZE
}

/// Largest block size in bytes that a frame can hold.
pub const MAX_BLOCK_SIZE: u32 = 4 << 20;

/// A match starts at least this many bytes before the end of the block (rule of the format).
pub(super) const MATCH_START_MARGIN: usize = 12;
/// The last bytes of a block are literals (rule of the format).
pub(crate) const LAST_LITERALS: usize = 5;
/// Shortest match that LZ4 can express, in bytes.
pub(crate) const MIN_MATCH: usize = 4;
/// Largest length that a token holds; further bytes continue it.
pub(crate) const TOKEN_MAX: usize = 15;

pub(super) const HASH_MULTIPLIER: u32 = 2_654_435_761;
/// Multiplier of the fifth byte, where five bytes are hashed. The match finder relies on this: if the words of two
/// positions are equal, and so are the upper 23 bits of their products, then the fifth bytes are equal too, since the
/// multiples of this number by 1 to 255 are far from 0.
pub(super) const FIFTH_MULTIPLIER: u32 = 2_246_822_519;
/// Larger blocks hash five bytes: with more candidates to choose from, a match of four bytes rarely pays for its
/// sequence, and its entry would evict a better one from the hash table.
const HASHES_FOUR_BYTES: u32 = 4 << 10;

/// For each block size class (the next power of two): the class in bytes, `bucket_bits` of Fast, true if Fast is lazy,
/// `bucket_bits` of High. In classes with long offsets, lazy matching gains as much as four times the buckets. High has a
/// bucket for every two positions.
const CLASSES: [(u32, u32, bool, u32); 6] = [
    (4 << 10, 9, false, 11),
    (8 << 10, 10, false, 12),
    (16 << 10, 10, false, 13),
    (32 << 10, 11, false, 14),
    (64 << 10, 11, true, 15),
    (MAX_BLOCK_SIZE, 13, false, 16),
];

/// The parameters of the canonical parse for one page size and level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parse {
    page_size: u32,
    bucket_bits: u32,
    tag_bits: u32,
    hash_bytes: u32,
    lazy: bool,
    level: Level,
}

impl Parse {
    /// Returns the parameters for blocks of at most `page_size` bytes, 4096 to 4 MiB.
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
        let is_high = level == Level::High;
        Ok(Self {
            page_size,
            bucket_bits: if is_high { high } else { fast },
            tag_bits: 16_u32.saturating_sub(class.trailing_zeros()),
            hash_bytes: if is_high || class <= HASHES_FOUR_BYTES {
                4
            } else {
                5
            },
            lazy: fast_lazy,
            level,
        })
    }

    /// Returns the largest block in bytes.
    #[must_use]
    pub const fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Returns the base-2 logarithm of the number of buckets.
    #[must_use]
    pub const fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }

    /// Returns the number of hash bits that an entry stores beside its position.
    #[must_use]
    pub const fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// Returns the number of bytes that are hashed: 4 or 5.
    #[must_use]
    pub const fn hash_bytes(&self) -> u32 {
        self.hash_bytes
    }

    /// Returns true if a match of Fast gives way to a longer one at the next position (lazy matching).
    #[must_use]
    pub const fn lazy(&self) -> bool {
        self.lazy
    }

    /// Returns the level, which selects the algorithm.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Returns true if blocks are larger than a page can be; hash table entries then have 32 bits.
    #[must_use]
    pub const fn is_large(&self) -> bool {
        self.page_size > MAX_PAGE_SIZE
    }
}
