//! The tables of the match finder: buckets of two entries, for pages and for large blocks.
//!
//! The first entries of all buckets lie in one array, the second in another, and every 16-bit number is an index, so
//! nothing needs a bounds check. An insertion moves A to B for all positions of a window, then writes A, the lowest
//! position last: no insertion looks at another, so none waits for one.

use super::WINDOW;
use super::parse::{Parse, word};

/// Within a window the lowest position becomes the largest entry.
pub(super) const FLIP: u32 = WINDOW as u32 - 1;
/// The bucket of positions that are not to be inserted; real buckets have at most 14 bits.
pub(super) const NO_BUCKET: u16 = u16::MAX;
/// Every index of 16 bits.
const N_BUCKETS: usize = 1 << 16;
/// Farthest that an LZ4 offset reaches.
const MAX_OFFSET: u32 = 65_535;

/// Positions a word apart, of which there are as many as bytes in a word, are neighbours in the arrays of a window:
/// their words are then neighbours in memory.
pub(super) const LANES: usize = 4;

/// Where the arrays of a window keep its position `i`.
pub(super) const fn slot(i: usize) -> usize {
    i % LANES * (WINDOW / LANES) + i / LANES
}

/// Buckets of two entries. Arrays of a window are in the order of [`slot`].
pub(super) trait Buckets {
    /// Empties every bucket.
    fn clear(&mut self);
    /// The offset of the candidate of `p`, which is not a run; 0 for none.
    fn offset(&self, input: &[u8], bucket: u16, entry: u16, p: usize) -> usize;
    /// Inserts the positions of the window at `start`: in each bucket that occurs, A becomes B and the lowest of its
    /// positions A.
    fn insert(&mut self, buckets: &[u16; WINDOW], entries: &[u16; WINDOW], start: usize);
}

/// Buckets for pages: 16-bit entries, zeros when empty.
pub(super) struct PageBuckets {
    a: Box<[u16; N_BUCKETS]>,
    b: Box<[u16; N_BUCKETS]>,
    n_buckets: usize,
    tag_bits: u32,
    tag_mask: u16,
}

impl PageBuckets {
    pub(super) fn new(parse: &Parse) -> Self {
        Self {
            a: bytemuck::zeroed_box(),
            b: bytemuck::zeroed_box(),
            n_buckets: 1 << parse.bucket_bits(),
            tag_bits: parse.tag_bits(),
            tag_mask: (1 << parse.tag_bits()) - 1,
        }
    }
}

impl Buckets for PageBuckets {
    fn clear(&mut self) {
        self.a[..self.n_buckets].fill(0);
        self.b[..self.n_buckets].fill(0);
    }

    #[inline(always)]
    fn offset(&self, input: &[u8], bucket: u16, entry: u16, p: usize) -> usize {
        let bucket = usize::from(bucket);
        let (a, b) = (self.a[bucket], self.b[bucket]);
        let word_of_p = word(input, p);
        let offset_of = |entry: u16| {
            let q = ((u32::from(entry) >> self.tag_bits) ^ FLIP) as usize;
            if q < p && word(input, q) == word_of_p {
                p - q
            } else {
                0
            }
        };
        if self.tag_mask == 0 {
            return match offset_of(a) {
                0 => offset_of(b),
                offset => offset,
            };
        }
        if (a ^ entry) & self.tag_mask == 0 {
            offset_of(a)
        } else if (b ^ entry) & self.tag_mask == 0 {
            offset_of(b)
        } else {
            0
        }
    }

    #[inline(always)]
    fn insert(&mut self, buckets: &[u16; WINDOW], entries: &[u16; WINDOW], _start: usize) {
        for &bucket in buckets {
            self.b[usize::from(bucket)] = self.a[usize::from(bucket)];
        }
        for j in (0..WINDOW / LANES).rev() {
            for k in (0..LANES).rev() {
                let slot = k * (WINDOW / LANES) + j;
                self.a[usize::from(buckets[slot])] = entries[slot];
            }
        }
    }
}

/// Buckets for blocks above 64 KiB: 32-bit entries, each one more than `p ^ 63`, zeros when empty.
pub(super) struct LargeBuckets {
    a: Box<[u32; N_BUCKETS]>,
    b: Box<[u32; N_BUCKETS]>,
    n_buckets: usize,
}

impl LargeBuckets {
    pub(super) fn new(parse: &Parse) -> Self {
        let n_buckets = 1 << parse.bucket_bits();
        Self {
            a: bytemuck::zeroed_box(),
            b: bytemuck::zeroed_box(),
            n_buckets,
        }
    }
}

impl Buckets for LargeBuckets {
    fn clear(&mut self) {
        self.a[..self.n_buckets].fill(0);
        self.b[..self.n_buckets].fill(0);
    }

    #[inline(always)]
    fn offset(&self, input: &[u8], bucket: u16, _entry: u16, p: usize) -> usize {
        let bucket = usize::from(bucket);
        let offset_of = |entry: u32| {
            let Some(flipped) = entry.checked_sub(1) else {
                return 0;
            };
            let q = flipped ^ FLIP;
            let offset = (p as u32).wrapping_sub(q);
            let same = offset <= MAX_OFFSET && word(input, q as usize) == word(input, p);
            if same { offset as usize } else { 0 }
        };
        match offset_of(self.a[bucket]) {
            0 => offset_of(self.b[bucket]),
            offset => offset,
        }
    }

    #[inline(always)]
    fn insert(&mut self, buckets: &[u16; WINDOW], _entries: &[u16; WINDOW], start: usize) {
        for &bucket in buckets {
            self.b[usize::from(bucket)] = self.a[usize::from(bucket)];
        }
        for i in (0..WINDOW).rev() {
            self.a[usize::from(buckets[slot(i)])] = ((start + i) as u32 ^ FLIP) + 1;
        }
    }
}
