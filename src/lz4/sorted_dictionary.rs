//! The positions of a dictionary, sorted by the hash of their words.

use super::compare::eight;
use super::dictionary::{BUCKET_BITS, Padded};
use super::lanes::Lanes;
use super::parse::{HASH_MULTIPLIER, LAST_LITERALS, MATCH_START_MARGIN};
use super::slots::{CANDIDATES, Slots};
use super::sorted::REACH;

/// Candidates of a position in a dictionary.
const IN_DICTIONARY: usize = 16;

/// The positions of a dictionary.
pub(super) struct SortedDictionary {
    /// The first slot of each bucket, and the slot after the last bucket.
    begins: Box<[u32]>,
    slots: Slots,
    n_bytes: usize,
}

impl SortedDictionary {
    /// Sorts the positions `range` of a dictionary, each of which eight bytes follow.
    pub(super) fn new(dictionary: Padded<'_>, range: std::ops::Range<usize>) -> Self {
        let mut slots = Slots::new(range.len());
        let mut ends = vec![0; (1 << BUCKET_BITS) + 1];
        let bytes = dictionary.bytes();
        let hash_at =
            |q: usize| Self::hash(u32::from_le_bytes(std::array::from_fn(|i| bytes[q + i])));
        for q in range.clone() {
            ends[hash_at(q) + 1] += 1;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let begins = ends.clone().into();
        for q in range.clone() {
            let end = &mut ends[hash_at(q)];
            slots.set(*end as usize, q);
            *end += 1;
        }
        // SAFETY: each of the slots was set above, to a position that eight bytes of the padded bytes follow.
        unsafe { slots.load_words(dictionary.padded(), range.len()) };
        Self {
            begins,
            slots,
            n_bytes: bytes.len(),
        }
    }

    /// Returns a word for each bucket, the slot after its last one and, in the upper half, the number of candidates; then a word for each
    /// slot, its position and, in the upper half, bits 1 to 16 of the product.
    #[cfg(gpu_engine)]
    pub(super) fn words(&self) -> impl Iterator<Item = u32> {
        let bucket = |begin: u32, end: u32| end | (end - begin).min(IN_DICTIONARY as u32) << 16;
        let buckets = self.begins.windows(2).map(move |w| bucket(w[0], w[1]));
        let slot = |(position, word): (u32, u32)| {
            position | word.wrapping_mul(HASH_MULTIPLIER) << 15 & 0xffff_0000
        };
        buckets.chain(self.slots.iter().map(slot))
    }

    #[inline(always)]
    fn hash(word: u32) -> usize {
        (word.wrapping_mul(HASH_MULTIPLIER) >> (32 - BUCKET_BITS)) as usize
    }

    /// Returns the longest match of position `p` of a block in the dictionary, `bytes`, the nearest of equals: its length and offset.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; the dictionary is that of this index; `p + MATCH_START_MARGIN <= input.len()`.
    #[inline(always)]
    pub(super) unsafe fn longest<L: Lanes>(
        &self,
        bytes: Padded<'_>,
        input: &[u8],
        p: usize,
    ) -> Option<(usize, usize)> {
        debug_assert!(p + MATCH_START_MARGIN <= input.len() && bytes.len() == self.n_bytes);
        // No closures here: they would be compiled without the instructions of `L`.
        // SAFETY: twelve bytes follow `p`. A hash is below the number of buckets, and so is the slot of a candidate below that of
        // slots. Padding follows the dictionary.
        unsafe {
            let own = eight(input, p);
            let hash = Self::hash(own as u32);
            let begin = *self.begins.get_unchecked(hash) as usize;
            let end = *self.begins.get_unchecked(hash + 1) as usize;
            let mut n = IN_DICTIONARY.min(end - begin);
            if n == 0 {
                return None;
            }
            // Words are compared before positions are loaded: most positions have no candidate, and save a cache miss.
            let mut fours = self.slots.agreeing::<L>(end, n, own, 0);
            if fours == 0 {
                return None;
            }
            let furthest = (p + self.n_bytes).saturating_sub(REACH);
            while n > 0 && self.slots.position(end, n) < furthest {
                n -= 1;
            }
            fours &= u64::MAX.unbounded_shl((CANDIDATES - n) as u32);
            if fours == 0 {
                return None;
            }
            let mut eights = self.slots.agreeing::<L>(end, n, own, u32::MAX);
            if p + 8 + LAST_LITERALS > input.len() {
                eights = 0;
            }
            let (length, q) = match eights {
                0 => {
                    let sixes = self.slots.agreeing::<L>(end, n, own, 0xffff);
                    let mask = if sixes == 0 { 0xff } else { 0xff_ffff };
                    let more = self.slots.agreeing::<L>(end, n, own, mask);
                    let fewer = if sixes == 0 { fours } else { sixes };
                    let bits = if more != 0 { more } else { fewer };
                    let length = 4 + 2 * usize::from(sixes != 0) + usize::from(more != 0);
                    (length, self.slots.candidate(end, bits))
                }
                _ => {
                    let bytes = bytes.padded();
                    self.slots.longest_of::<true>(end, eights, input, p, bytes)
                }
            };
            Some((length, p + self.n_bytes - q))
        }
    }
}
