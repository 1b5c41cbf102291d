//! The positions of a part of a block that are in no run, sorted by the hash of their words, and the best candidate of each.

use std::hint::select_unpredictable;

use super::compare::{eight, word};
use super::lanes::Lanes;
use super::parse::{
    HASH_MULTIPLIER, LAST_LITERALS, MATCH_START_MARGIN, MAX_PAGE_SIZE, MIN_MATCH, Parse,
};
use super::slots::{CANDIDATES, MOST_LANES, Slots};

/// Bytes of a part of a block. A page is one part.
pub(super) const PART: usize = MAX_PAGE_SIZE as usize;
/// Largest offset of a match, in bytes.
pub(super) const REACH: usize = PART - 1;

/// Candidates at consecutive distances between two looks at whether any position needs more of them.
const AT_ONCE: usize = 4;
/// Bytes of a position that are compared with those of its candidates.
const COMPARED: u32 = 8;
/// Bits of a value of `nearest` below the length.
const LENGTH_SHIFT: u32 = 28;
/// In a key, the top bit of each byte of the second word that agrees with that of a candidate, up to the first that differs.
const AGREEING: u32 = 0x8080_8080;

/// The match of a position in a run, as a value of `nearest`: four bytes at offset 1.
const RUN: u32 = (MIN_MATCH as u32) << LENGTH_SHIFT | 1;

/// The searchable positions of a part of a block, and of what it can reach, that are in no run.
pub(super) struct Sorted {
    bucket_bits: u32,
    /// The slot after the last one of each bucket.
    ends: Box<[u32]>,
    /// Whether some of the positions are too far apart for an offset.
    exceeds_reach: bool,
    n_slots: usize,
    slots: Slots,
    /// For each position of the part the nearest of the candidates that agree in most of [`COMPARED`] bytes: the number of these bytes, 0
    /// without one that agrees in four, and below it the offset, or where all agree, the slot of the position.
    nearest: Box<[u32]>,
}

impl Sorted {
    pub(super) fn new(parse: &Parse) -> Self {
        let part = PART.min(parse.page_size() as usize);
        let reached = if parse.is_large() { REACH } else { 0 };
        let n = part + reached;
        Self {
            bucket_bits: parse.bucket_bits(),
            ends: vec![0; 1 << parse.bucket_bits()].into(),
            exceeds_reach: false,
            n_slots: 0,
            slots: Slots::new(n),
            nearest: vec![0; part].into(),
        }
    }

    #[inline(always)]
    fn bucket(&self, word: u32) -> usize {
        (word.wrapping_mul(HASH_MULTIPLIER) >> (32 - self.bucket_bits)) as usize
    }

    /// Sorts the positions of `input` before `to`: those of the part that begins at `begin`, and those before it that it can reach.
    pub(super) fn sort(&mut self, input: &[u8], begin: usize, to: usize) {
        let from = begin.saturating_sub(REACH);
        assert!(
            from <= to
                && to + MATCH_START_MARGIN <= input.len() + 1
                && to - from <= self.slots.len(),
            "positions to sort"
        );
        self.exceeds_reach = to - from > REACH;
        self.ends.fill(0);
        // SAFETY: twelve bytes follow a position, as asserted above; so below.
        let word_at = |p| unsafe { word(input, p) };
        // Position 0 is in no run.
        let before_all = from.checked_sub(1).map_or(!word_at(from), word_at);
        let mut before = before_all;
        for p in from..to {
            let word = word_at(p);
            // SAFETY: a hash is below the number of buckets; so below.
            let end = unsafe { self.ends.get_unchecked_mut(self.bucket(word)) };
            *end += u32::from(word != before);
            before = word;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        self.n_slots = sum as usize;
        before = before_all;
        for p in from..to {
            let word = word_at(p);
            let bucket = self.bucket(word);
            // SAFETY: as above.
            let end = unsafe { self.ends.get_unchecked_mut(bucket) };
            // Positions in runs go to the slot after the last one, without a branch.
            let is_run = word == before;
            let slot = select_unpredictable(is_run, self.n_slots, *end as usize);
            self.slots.set(slot, p);
            *end += u32::from(!is_run);
            before = word;
        }
        // Those of sorted positions are found later.
        self.nearest.fill(RUN);
        // SAFETY: this pass met the words that the pass before counted, so it set each of the slots, to a position that twelve bytes
        // follow.
        unsafe { self.slots.load_words(input, self.n_slots) };
    }

    /// Finds the nearest of the best candidates of each position of the part that begins at `begin`. Candidates of adjacent slots lie side
    /// by side, so a vector compares one of each.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    pub(super) unsafe fn find<L: Lanes>(&mut self, begin: usize) {
        const { assert!(L::N <= MOST_LANES) };
        for slot in (0..self.n_slots).step_by(L::N) {
            let mut found = [0; MOST_LANES];
            // SAFETY: the slot is that of a position; the machine has the instructions.
            unsafe {
                let nearest = match self.exceeds_reach || slot < CANDIDATES {
                    true => self.nearest_of::<L, true>(slot),
                    false => self.nearest_of::<L, false>(slot),
                };
                nearest.store(found.as_mut_ptr());
            }
            for (i, found) in found[..L::N.min(self.n_slots - slot)].iter().enumerate() {
                let p = self.slots.position(slot + i, 0);
                // Positions before the part are not in it.
                if let Some(nearest) = self.nearest.get_mut(p.wrapping_sub(begin)) {
                    let length = found >> 16;
                    let offset = p - self.slots.position(slot + i, (found & 0xffff) as usize);
                    let lower =
                        select_unpredictable(length < COMPARED, offset as u32, (slot + i) as u32);
                    *nearest = length << LENGTH_SHIFT | lower;
                }
            }
        }
    }

    /// Returns for each of `L::N` slots from `slot` on the nearest of the candidates that agree in most of [`COMPARED`] bytes: in the lower
    /// half how many slots before it that is, in the upper half the number of these bytes; 0 without a candidate that agrees in four.
    ///
    /// # Safety
    /// The machine has the instructions of `L`, and `slot` is that of a position. Without `IS_CHECKED`, all candidates are in reach, and
    /// there are [`CANDIDATES`] slots before it.
    #[inline(always)]
    unsafe fn nearest_of<L: Lanes, const IS_CHECKED: bool>(&self, slot: usize) -> L {
        // No closures here: they would be compiled without the instructions of `L`.
        // SAFETY: the machine has the instructions. At most [`CANDIDATES`] values are before those of the slot, and as many as lanes from
        // there on.
        unsafe {
            let [positions, words, nexts] = self.slots.pointers(slot);
            let (zero, one) = (L::splat(0), L::splat(1));
            let (word, next) = (L::load(words), L::load(nexts));
            let buckets = self.buckets(word);
            let mut best = zero;
            for first in (1..CANDIDATES).step_by(AT_ONCE) {
                let is_candidate = self.buckets(L::load(words.sub(first))).equal(buckets);
                // The top bit of a key is set if all bytes agree.
                let needs_more = best.shift_right(31).equal(zero);
                if is_candidate.and(needs_more).bits() == 0 {
                    break;
                }
                for distance in first..first + AT_ONCE {
                    let differs = L::load(nexts.sub(distance)).xor(next);
                    // Ones below the first bit that differs.
                    let below = differs.sub(one).and_not(differs);
                    let nearness = L::splat((CANDIDATES + 1 - distance) as u32);
                    let is_equal = L::load(words.sub(distance)).equal(word);
                    let mut key = below.and(L::splat(AGREEING)).or(nearness).and(is_equal);
                    if IS_CHECKED {
                        let offset = L::load(positions).sub(L::load(positions.sub(distance)));
                        key = key.and(offset.shift_right(16).equal(zero));
                    }
                    best = best.max(key);
                }
            }
            // One of four bits for each byte, summed in the top byte.
            let ones = L::splat(0x0101_0101);
            let more = best.shift_right(7).and(ones).mul(ones).shift_right(24);
            let length = more.add(L::splat(4)).mul(L::splat(1 << 16));
            let distance = L::splat(CANDIDATES as u32 + 1).sub(best.and(L::splat(0x7f)));
            length.or(distance).and_not(best.equal(zero))
        }
    }

    /// Returns the buckets of words.
    ///
    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn buckets<L: Lanes>(&self, words: L) -> L {
        // SAFETY: this function's contract.
        unsafe {
            words
                .mul(L::splat(HASH_MULTIPLIER))
                .shift_right(32 - self.bucket_bits)
        }
    }

    /// Returns the longest match of position `p` among its candidates, the nearest of equals: its length, 0 without one, and its offset.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `input` is the block that was sorted last; [`find`](Self::find) was called since, and `p` is
    /// one of the positions.
    #[inline(always)]
    pub(super) unsafe fn longest<L: Lanes>(
        &self,
        input: &[u8],
        begin: usize,
        p: usize,
    ) -> (usize, usize) {
        let nearest = self.nearest[p - begin];
        let length = nearest >> LENGTH_SHIFT;
        let lower = (nearest & ((1 << LENGTH_SHIFT) - 1)) as usize;
        if length < COMPARED {
            return (length as usize, lower);
        }
        let slot = lower;
        // SAFETY: twelve bytes follow a position, and the slot is its own. Its candidates are before it, and in the block.
        unsafe {
            let own = eight(input, p);
            let bucket = self.bucket(own as u32);
            let first = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
            let mut n = CANDIDATES.min(slot - first as usize);
            while self.exceeds_reach && p - self.slots.position(slot, n) > REACH {
                n -= 1;
            }
            if p + 8 + LAST_LITERALS > input.len() {
                let sevens = self.slots.agreeing::<L>(slot, n, own, 0xff_ffff);
                return (7, p - self.slots.candidate(slot, sevens));
            }
            let eights = self.slots.agreeing::<L>(slot, n, own, u32::MAX);
            let (length, q) = self
                .slots
                .longest_of::<false>(slot, eights, input, p, input);
            (length, p - q)
        }
    }
}
