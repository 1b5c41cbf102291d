//! The tables of the match finder: buckets of two entries, for pages and for large blocks.

use super::WINDOW;
use super::parse::{Parse, word};

const WINDOW_BITS: u32 = WINDOW.trailing_zeros();
/// Within a window the lowest position becomes the largest entry.
const FLIP: u32 = WINDOW as u32 - 1;
/// Farthest that an LZ4 offset reaches.
const MAX_OFFSET: u32 = 65_535;

/// Buckets of two entries. A key is a bucket number with the tag in its low bits.
pub(super) trait Buckets {
    /// Empties every bucket.
    fn clear(&mut self);
    /// The offset of the candidate of `p`, which is not a run; 0 for none.
    fn offset(&self, input: &[u8], key: u32, p: usize) -> usize;
    /// Inserts `p`. In each bucket the first insertion of a window moves A to B; later ones change nothing.
    fn insert(&mut self, key: u32, p: usize);
}

/// Buckets for pages: two 16-bit entries in a word, A above B, zeros when empty.
pub(super) struct PageBuckets {
    words: Box<[u32]>,
    tag_bits: u32,
}

impl PageBuckets {
    pub(super) fn new(parse: &Parse) -> Self {
        let words = vec![0; 1 << parse.bucket_bits()].into_boxed_slice();
        Self {
            words,
            tag_bits: parse.tag_bits(),
        }
    }
}

impl Buckets for PageBuckets {
    fn clear(&mut self) {
        self.words.fill(0);
    }

    #[inline(always)]
    fn offset(&self, input: &[u8], key: u32, p: usize) -> usize {
        let bucket = self.words[(key >> self.tag_bits) as usize];
        let (a, b) = (bucket >> 16, bucket & 0xffff);
        let offset_of = |entry: u32| {
            let q = ((entry >> self.tag_bits) ^ FLIP) as usize;
            if q < p && word(input, q) == word(input, p) {
                p - q
            } else {
                0
            }
        };
        if self.tag_bits > 0 {
            let tag_mask = (1 << self.tag_bits) - 1;
            offset_of(if (a ^ key) & tag_mask == 0 { a } else { b })
        } else {
            match offset_of(a) {
                0 => offset_of(b),
                offset => offset,
            }
        }
    }

    #[inline(always)]
    fn insert(&mut self, key: u32, p: usize) {
        let p = p as u32;
        let bucket = &mut self.words[(key >> self.tag_bits) as usize];
        let tag = key & ((1 << self.tag_bits) - 1);
        let entry = (p ^ FLIP) << self.tag_bits | tag;
        let a = *bucket >> 16;
        // In the first window an entry of zeros is an empty one: position 63 comes last.
        let first = a >> (self.tag_bits + WINDOW_BITS) != p >> WINDOW_BITS || a == 0;
        *bucket = if first { entry << 16 | a } else { *bucket };
    }
}

/// Buckets for blocks above 64 KiB: two 32-bit entries, each one more than `p ^ 63`, zeros when empty.
pub(super) struct LargeBuckets {
    pairs: Box<[(u32, u32)]>,
}

impl LargeBuckets {
    pub(super) fn new(parse: &Parse) -> Self {
        Self {
            pairs: vec![(0, 0); 1 << parse.bucket_bits()].into_boxed_slice(),
        }
    }
}

impl Buckets for LargeBuckets {
    fn clear(&mut self) {
        self.pairs.fill((0, 0));
    }

    #[inline(always)]
    fn offset(&self, input: &[u8], key: u32, p: usize) -> usize {
        let (a, b) = self.pairs[key as usize];
        let offset_of = |entry: u32| {
            let Some(flipped) = entry.checked_sub(1) else {
                return 0;
            };
            let offset = (p as u32).wrapping_sub(flipped ^ FLIP);
            let q = (flipped ^ FLIP) as usize;
            if offset <= MAX_OFFSET && word(input, q) == word(input, p) {
                offset as usize
            } else {
                0
            }
        };
        match offset_of(a) {
            0 => offset_of(b),
            offset => offset,
        }
    }

    #[inline(always)]
    fn insert(&mut self, key: u32, p: usize) {
        let p = p as u32;
        let pair = &mut self.pairs[key as usize];
        let a = pair.0;
        let first = a == 0 || (a - 1) >> WINDOW_BITS != p >> WINDOW_BITS;
        if first {
            *pair = ((p ^ FLIP) + 1, a);
        }
    }
}
