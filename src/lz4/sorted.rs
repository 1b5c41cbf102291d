//! The positions of a part of a block, sorted by the hash of their words: the candidates of a position lie before it.

use super::compare::{eight, word};
use super::lanes::Lanes;
use super::parse::{HASH_MULTIPLIER, LAST_LITERALS, MATCH_START_MARGIN, MAX_PAGE_SIZE, Parse};

/// Candidates of a position: the latest earlier positions with the same hash.
pub(super) const CANDIDATES: usize = 64;
/// Length at which a comparison stops. A multiple of 8.
const LONGEST: usize = 128;
/// Bytes of a part of a block. A page is one part.
pub(super) const PART: usize = MAX_PAGE_SIZE as usize;
/// Largest offset of a match, in bytes.
pub(super) const REACH: usize = PART - 1;

/// Searchable positions in the order of their hashes, then of themselves.
///
/// The unsafe code of the search relies on two invariants: each array has [`CANDIDATES`] unused values before slot 0; and
/// the slots below the last end hold searchable positions of the block that was sorted last.
pub(super) struct Sorted {
    bucket_bits: u32,
    /// The slot after the last one of each bucket.
    ends: Box<[u32]>,
    positions: Box<[u32]>,
    /// The four bytes at each position, and the four after them.
    words: Box<[u32]>,
    nexts: Box<[u32]>,
}

impl Sorted {
    pub(super) fn new(parse: &Parse) -> Self {
        let most = match parse.is_large() {
            true => PART + REACH,
            false => parse.page_size() as usize,
        };
        let slots = || vec![0; CANDIDATES + most].into();
        Self {
            bucket_bits: parse.bucket_bits(),
            ends: vec![0; 1 << parse.bucket_bits()].into(),
            positions: slots(),
            words: slots(),
            nexts: slots(),
        }
    }

    /// Sorts the positions `from..to` of `input`: a part, and the positions before it that it can reach.
    pub(super) fn sort(&mut self, input: &[u8], from: usize, to: usize) {
        assert!(
            from <= to
                && to + MATCH_START_MARGIN <= input.len() + 1
                && to - from <= self.positions.len() - CANDIDATES,
            "positions to sort"
        );
        let shift = 32 - self.bucket_bits;
        let hash = |word: u32| (word.wrapping_mul(HASH_MULTIPLIER) >> shift) as usize;
        self.ends.fill(0);
        for p in from..to {
            // SAFETY: twelve bytes follow `p`, as asserted above.
            self.ends[hash(unsafe { word(input, p) })] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        for p in from..to {
            // SAFETY: as above.
            let bytes = unsafe { eight(input, p) };
            let end = &mut self.ends[hash(bytes as u32)];
            let slot = CANDIDATES + *end as usize;
            *end += 1;
            self.positions[slot] = p as u32;
            self.words[slot] = bytes as u32;
            self.nexts[slot] = (bytes >> 32) as u32;
        }
    }

    /// Writes the longest match of each position from `first` on, as [`found`], to the element of `matches` at its distance
    /// from `first`; leaves elements of other positions as they are.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `input` is the block that was sorted last.
    #[inline(always)]
    pub(super) unsafe fn search<L: Lanes>(&self, input: &[u8], first: usize, matches: &mut [u32]) {
        let mut begin = 0;
        for &end in &self.ends {
            let end = end as usize;
            let mut oldest = begin;
            for slot in begin + 1..end {
                let p = self.positions[CANDIDATES + slot] as usize;
                if p < first {
                    continue;
                }
                oldest = oldest.max(slot.saturating_sub(CANDIDATES));
                while p - self.positions[CANDIDATES + oldest] as usize > REACH {
                    oldest += 1;
                }
                if oldest < slot {
                    // SAFETY: the machine and `input` are as this function's contract says; the slots are below `end`.
                    if let Some(longest) = unsafe { self.longest::<L>(input, oldest, slot) } {
                        matches[p - first] = longest;
                    }
                }
            }
            begin = end;
        }
    }

    /// Returns the longest match of the position in `slot` with those in the slots from `oldest` on, the nearest of equals.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `input` is the block that was sorted last. `oldest` is less than `slot`, by at
    /// most [`CANDIDATES`], and `slot` less than the last end.
    #[inline(always)]
    unsafe fn longest<L: Lanes>(&self, input: &[u8], oldest: usize, slot: usize) -> Option<u32> {
        let own = CANDIDATES + slot;
        debug_assert!(oldest < slot && slot - oldest <= CANDIDATES);
        // SAFETY: `own` is a slot of each array.
        let (p, word, next) = unsafe {
            (
                *self.positions.get_unchecked(own) as usize,
                *self.words.get_unchecked(own),
                *self.nexts.get_unchecked(own),
            )
        };
        let cap = LONGEST.min(input.len() - LAST_LITERALS - p);
        // SAFETY: candidate `bit` of a mask is in slot `own - CANDIDATES + bit`, which is at least `oldest`.
        let position = |bit: usize| unsafe {
            *self.positions.get_unchecked(own - CANDIDATES + bit) as usize
        };
        // Candidates as bits, the nearest in the top one.
        let all = u64::MAX << (CANDIDATES - (slot - oldest));
        let masked = |mask: u32| {
            let mut bits = 0;
            let mut i = CANDIDATES;
            while i > CANDIDATES - (slot - oldest) {
                i -= L::N;
                let at = own - CANDIDATES + i;
                // SAFETY: a vector from `at` on ends at `own` or before it, and begins at 0 or after it, since L::N divides
                // CANDIDATES; the machine has the instructions.
                let equal = unsafe {
                    let words = L::load(self.words.as_ptr().add(at)).xor(L::splat(word));
                    let nexts = L::load(self.nexts.as_ptr().add(at)).xor(L::splat(next));
                    let different = nexts.and(L::splat(mask)).or(words);
                    different.equal(L::splat(0)).bits()
                };
                bits |= u64::from(equal) << i;
            }
            bits & all
        };
        let mut eights = if cap < 8 { 0 } else { masked(u32::MAX) };
        if eights == 0 {
            return [0xff_ffff, 0xffff, 0xff, 0].into_iter().enumerate().find_map(|(i, mask)| {
                let bits = masked(mask);
                (bits != 0).then(|| found(7 - i, p - position(63 - bits.leading_zeros() as usize)))
            });
        }
        let mut best = (0, 0);
        while eights != 0 {
            let bit = 63 - eights.leading_zeros() as usize;
            eights ^= 1 << bit;
            let q = position(bit);
            // SAFETY: the eight bytes that end after the best length are in the block, since that is below `cap`.
            if best.0 >= 8 && unsafe { eight(input, q + best.0 - 7) != eight(input, p + best.0 - 7) } {
                continue;
            }
            // SAFETY: both positions are searchable, `q` before `p`; `p + cap` is inside the block.
            let length = unsafe { agreeing(input, p, q, cap) };
            if length > best.0 {
                best = (length, p - q);
                if length == cap {
                    break;
                }
            }
        }
        Some(found(best.0, best.1))
    }
}

/// Returns a match as an element of the list of matches: the offset, then the length in the lower half.
pub(super) const fn found(length: usize, offset: usize) -> u32 {
    (offset << 16 | length) as u32
}

/// Returns the length of the common prefix at `p` and `q`, of which eight bytes are equal, up to `cap`.
///
/// # Safety
/// `q < p`, `8 <= cap` and `p + cap <= input.len()`.
#[inline(always)]
unsafe fn agreeing(input: &[u8], p: usize, q: usize, cap: usize) -> usize {
    let mut n = 8;
    while n + 8 <= cap {
        // SAFETY: `p + n + 8` is at most `p + cap`, inside the block; `q` is before `p`.
        let difference = unsafe { eight(input, p + n) ^ eight(input, q + n) };
        if difference != 0 {
            return n + difference.trailing_zeros() as usize / 8;
        }
        n += 8;
    }
    while n < cap && input[p + n] == input[q + n] {
        n += 1;
    }
    n
}
