//! [`ContentHash`], which identifies pages and versions.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_128;

use crate::{Error, Result};

/// A hash of content with 128 bits: XXH3, as in the command `xxhsum -H2`.
///
/// Displayed as 32 hexadecimal digits, which [`parse`](Self::parse) reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(u128);

impl ContentHash {
    /// Bytes of a hash in a manifest.
    pub(super) const N_BYTES: usize = 16;

    /// Returns the hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// Returns the hash with these little-endian bytes.
    #[must_use]
    pub const fn from_le_bytes(bytes: [u8; Self::N_BYTES]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Returns the little-endian bytes.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; Self::N_BYTES] {
        self.0.to_le_bytes()
    }

    /// Returns the hash of 32 hexadecimal digits; `None` for other text.
    #[must_use]
    pub fn parse(digits: &str) -> Option<Self> {
        let are_digits = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        are_digits
            .then(|| u128::from_str_radix(digits, 16).ok().map(Self))
            .flatten()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Pages by content hash. The hash is its own hash value.
pub(super) type PagesByHash = HashMap<ContentHash, u32, BuildHasherDefault<LowBits>>;

/// Inserts a page unless there is one with its hash.
pub(super) fn insert(pages: &mut PagesByHash, hash: ContentHash, page: usize) -> Result<()> {
    let n_bytes = (pages.len() as u64 + 1) * size_of::<(ContentHash, u32)>() as u64;
    let short = Error::OutOfMemory { requested: n_bytes };
    pages.try_reserve(1).map_err(|_| short)?;
    pages.entry(hash).or_insert(page as u32);
    Ok(())
}

/// The hash value of a [`ContentHash`]: 64 of its bits.
#[derive(Default)]
pub(super) struct LowBits(u64);

impl Hasher for LowBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}
