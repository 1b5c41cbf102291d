//! Dictionaries: bytes that stand before each block, with the indexes that encoders find matches by.

use std::sync::{Arc, OnceLock};

use super::compare::{eight, word};
#[cfg(not(no_dictionary))]
use super::frame::checksum;
use super::parse::{FIFTH_MULTIPLIER, HASH_MULTIPLIER};
use super::sorted_dictionary::SortedDictionary;
use crate::{Error, Result};

/// Most bytes of a dictionary: the reach of a match, and one more.
#[cfg(not(no_dictionary))]
pub(super) const MOST_BYTES: usize = 65_536;
/// Bytes after those of the dictionary, for reads that go past its end.
pub(super) const PADDING: usize = 128;
/// A position of an index is followed by so many bytes of the dictionary, itself included.
const INDEXED: usize = 8;
/// Base-2 logarithm of the buckets of an index.
pub(super) const BUCKET_BITS: u32 = 15;

/// Bytes that stand before each block, so that its matches may reach into them: small blocks that resemble each other and the
/// dictionary become shorter. A block decodes only with the dictionary that it was compressed with.
///
/// It is built once and shared: a clone refers to the same memory. An encoder's first use of it builds an index.
///
/// The methods have the names of the functions of this module that work without a dictionary.
///
/// ```
/// use pagepress::lz4::{Dictionary, Level};
///
/// let dictionary = Dictionary::new(b"{\"name\": \"\", \"address\": \"\", \"orders\": []}");
/// let pages = dictionary.compress_pages(b"{\"name\": \"Ada\", \"orders\": []}", 4096, Level::High)?;
/// assert_eq!(pages.dictionary_id, dictionary.id());
/// assert_eq!(dictionary.decompress_pages(&pages)?, b"{\"name\": \"Ada\", \"orders\": []}");
/// # Ok::<(), pagepress::Error>(())
/// ```
#[derive(Clone)]
pub struct Dictionary(Arc<Inner>, Possible);

/// Exists where dictionaries do. Most modules of the npm package make none, so there the compiler leaves out what uses them.
#[cfg(not(no_dictionary))]
type Possible = ();
#[cfg(no_dictionary)]
type Possible = std::convert::Infallible;

struct Inner {
    /// The bytes, and [`PADDING`] zeros.
    padded: Box<[u8]>,
    id: u32,
    /// The indexes: of Fast, of Sequential by five and by six bytes, and of High.
    fast: OnceLock<Latest>,
    five: OnceLock<Latest>,
    six: OnceLock<Latest>,
    sorted: OnceLock<SortedDictionary>,
}

#[cfg(not(no_dictionary))]
impl Dictionary {
    /// Returns a dictionary of the last 65,536 of these bytes, or of all if there are fewer. Its id is the xxHash32 (seed 0) of all of
    /// them; an id of 0 becomes 1.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self::with_id(bytes, checksum(bytes).max(1))
    }

    /// As [`new`](Self::new), with another id. With 0, frames and batches do not state which dictionary they need, as those of
    /// `lz4 -D` do not.
    #[must_use]
    pub fn with_id(bytes: &[u8], id: u32) -> Self {
        let bytes = &bytes[bytes.len().saturating_sub(MOST_BYTES)..];
        let mut padded = Vec::with_capacity(bytes.len() + PADDING);
        padded.extend_from_slice(bytes);
        padded.resize(bytes.len() + PADDING, 0);
        let inner = Inner {
            padded: padded.into(),
            id,
            fast: OnceLock::new(),
            five: OnceLock::new(),
            six: OnceLock::new(),
            sorted: OnceLock::new(),
        };
        Self(Arc::new(inner), ())
    }
}

impl Dictionary {
    /// Returns the id that frames and batches state; 0 if they state none.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Returns the bytes that stand before a block, at most 65,536.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes().bytes()
    }

    /// Returns the number of bytes that stand before a block.
    pub(crate) fn n_bytes(&self) -> usize {
        self.bytes().len()
    }

    /// Returns true if both refer to the same memory.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> Padded<'_> {
        Padded(&self.0.padded)
    }

    /// Returns the index of level Fast.
    pub(super) fn fast(&self) -> &Latest {
        // SAFETY: eight bytes follow each position.
        let hash = |p| unsafe { fast_hash(self.as_bytes(), p) };
        self.0.fast.get_or_init(|| self.latest(hash))
    }

    /// Returns the entries of the index of level Fast, one for each bucket: 0, or a position below bits of its hash.
    #[cfg(gpu_engine)]
    pub(crate) fn fast_index(&self) -> &[u32] {
        self.fast().entries()
    }

    /// Returns the index of level High as the words of a GPU: for each bucket the slot after its last one, and the number of candidates in
    /// the upper half; for each slot its position, and bits 1 to 16 of the product of its word in the upper half.
    #[cfg(gpu_engine)]
    pub(crate) fn high_index(&self) -> impl Iterator<Item = u32> {
        self.sorted().words()
    }

    /// Returns the index of level Sequential, by the hash of the five or six bytes at a position.
    pub(super) fn sequential(&self, n_bytes: u32, hash: impl Fn(&[u8], usize) -> u32) -> &Latest {
        let index = if n_bytes == 5 {
            &self.0.five
        } else {
            &self.0.six
        };
        index.get_or_init(|| self.latest(|p| hash(self.as_bytes(), p)))
    }

    /// Returns the index of level High.
    pub(super) fn sorted(&self) -> &SortedDictionary {
        let new = || SortedDictionary::new(self.bytes(), self.indexed());
        self.0.sorted.get_or_init(new)
    }

    fn latest(&self, hash: impl Fn(usize) -> u32) -> Latest {
        let mut entries = vec![0; 1 << BUCKET_BITS];
        for q in self.indexed() {
            let hash = hash(q);
            entries[Latest::bucket(hash)] = Latest::key(hash) | q as u32;
        }
        Latest(entries.into())
    }

    /// Returns the positions that indexes have.
    fn indexed(&self) -> std::ops::Range<usize> {
        0..(self.as_bytes().len() + 1).saturating_sub(INDEXED)
    }
}

/// Fails unless the given dictionary, or none, may be that of data that states the id `stated`; 0 states none.
pub(crate) fn check_id(given: Option<&Dictionary>, stated: u32) -> Result<()> {
    match given {
        _ if stated == 0 => Ok(()),
        None => Err(Error::DictionaryNeeded { id: stated }),
        Some(given) if given.id() != stated => Err(Error::WrongDictionary {
            expected: stated,
            actual: given.id(),
        }),
        Some(_) => Ok(()),
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("id", &self.id())
            .field("n_bytes", &self.as_bytes().len())
            .finish()
    }
}

/// Dictionaries are equal if their ids and bytes are.
impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.id() == other.id() && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Dictionary {}

/// The bytes of a dictionary, and [`PADDING`] bytes after them.
#[derive(Clone, Copy)]
pub(super) struct Padded<'a>(&'a [u8]);

impl<'a> Padded<'a> {
    /// No bytes, and no padding.
    pub(super) const NONE: Padded<'static> = Padded(&[0; PADDING]);

    /// Returns the number of bytes without the padding.
    #[inline(always)]
    pub(super) const fn len(self) -> usize {
        self.0.len() - PADDING
    }

    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.0[..self.len()]
    }

    /// Returns all bytes, with the padding.
    #[inline(always)]
    pub(super) const fn padded(self) -> &'a [u8] {
        self.0
    }
}

/// The latest position of each bucket. The unsafe code of the encoders relies on this invariant: eight bytes of the dictionary
/// follow each position.
///
/// An entry is 0, or a position and, above its 16 bits, those of the hash that the bucket does not tell, with a bit that is
/// always set. So an entry whose upper bits are those of a hash is almost always a match.
pub(super) struct Latest(Box<[u32]>);

impl Latest {
    /// Bits of a hash below those of the bucket and of the key.
    const UNUSED: u32 = 32 - BUCKET_BITS - 15;
    /// Distance from the bits of the key in a hash to those in an entry.
    pub(super) const KEY_SHIFT: u32 = 16 - Self::UNUSED;
    /// The bits of the key in an entry, less the one that is always set.
    pub(super) const KEY_MASK: u32 = 0x7fff_0000;
    pub(super) const KEY_SET: u32 = 1 << 31;

    #[inline(always)]
    pub(super) const fn bucket(hash: u32) -> usize {
        (hash >> (32 - BUCKET_BITS)) as usize
    }

    #[inline(always)]
    pub(super) const fn key(hash: u32) -> u32 {
        hash << Self::KEY_SHIFT & Self::KEY_MASK | Self::KEY_SET
    }

    /// Returns the entries, one for each bucket.
    #[inline(always)]
    pub(super) const fn entries(&self) -> &[u32] {
        &self.0
    }

    /// Returns the latest position in the bucket of `hash`, unless the entry tells that its hash differs.
    #[inline(always)]
    pub(super) fn position(&self, hash: u32) -> Option<usize> {
        debug_assert!(self.0.len() == 1 << BUCKET_BITS);
        // SAFETY: a bucket has BUCKET_BITS bits, and there is an entry for each.
        let entry = unsafe { *self.0.get_unchecked(Self::bucket(hash)) };
        let position = entry ^ Self::key(hash);
        (position <= 0xffff).then_some(position as usize)
    }
}

/// Returns the hash by which level Fast finds five bytes in a dictionary.
///
/// # Safety
/// `p + 5 <= input.len()`.
#[inline(always)]
unsafe fn fast_hash(input: &[u8], p: usize) -> u32 {
    // SAFETY: this function's contract.
    let (word, fifth) = unsafe { (word(input, p), *input.get_unchecked(p + 4)) };
    word.wrapping_mul(HASH_MULTIPLIER)
        .wrapping_add(u32::from(fifth).wrapping_mul(FIFTH_MULTIPLIER))
}

/// Returns the number of equal bytes of two words before the first that differs, given their difference: at most eight.
#[inline(always)]
pub(super) const fn n_equal(difference: u64) -> usize {
    difference.trailing_zeros() as usize / 8
}

/// Returns the length of the common prefix at `p` and at `q` of `source`, of which `n` bytes are equal: at most `most`.
///
/// # Safety
/// `p + most <= input.len()` and `q + most <= source.len()`.
#[inline(always)]
pub(super) unsafe fn common_length(
    input: &[u8],
    p: usize,
    source: &[u8],
    q: usize,
    n: usize,
    most: usize,
) -> usize {
    let mut n = n.min(most);
    while n + 8 <= most {
        // SAFETY: both reads end at most `most` bytes after `p` and `q`, inside their slices.
        let equal = n_equal(unsafe { eight(input, p + n) ^ eight(source, q + n) });
        n += equal;
        if equal < 8 {
            return n;
        }
    }
    while n < most && input[p + n] == source[q + n] {
        n += 1;
    }
    n
}
