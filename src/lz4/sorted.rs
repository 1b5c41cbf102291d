//! The positions of a part of a block, sorted by the hash of their words: the candidates of a position lie before it.

use super::compare::{eight, word};
use super::dictionary::{BUCKET_BITS, PADDING, Padded};
use super::lanes::Lanes;
use super::parse::{HASH_MULTIPLIER, LAST_LITERALS, MATCH_START_MARGIN, MAX_PAGE_SIZE, Parse};

/// Candidates of a position: the latest earlier positions with the same hash.
pub(super) const CANDIDATES: usize = 64;
/// Candidates of a position in a dictionary.
const IN_DICTIONARY: usize = 16;
/// Length at which a comparison stops. A multiple of 8.
const LONGEST: usize = 128;
/// Bytes of a part of a block. A page is one part.
pub(super) const PART: usize = MAX_PAGE_SIZE as usize;
/// Largest offset of a match, in bytes.
pub(super) const REACH: usize = PART - 1;

/// Positions in the order of their hashes, then of themselves.
///
/// The unsafe code of the search relies on two invariants: each array has [`CANDIDATES`] unused values before slot 0; and
/// eight bytes of the block that was sorted last, or of the dictionary, follow the positions in the slots of all buckets.
struct Slots {
    positions: Box<[u32]>,
    /// The four bytes at each position, and the four after them.
    words: Box<[u32]>,
    nexts: Box<[u32]>,
}

impl Slots {
    /// Returns `n` slots.
    fn new(n: usize) -> Self {
        let slots = || vec![0; CANDIDATES + n].into();
        Self {
            positions: slots(),
            words: slots(),
            nexts: slots(),
        }
    }

    fn set(&mut self, slot: usize, position: usize, bytes: u64) {
        self.positions[CANDIDATES + slot] = position as u32;
        self.words[CANDIDATES + slot] = bytes as u32;
        self.nexts[CANDIDATES + slot] = (bytes >> 32) as u32;
    }
}

/// The searchable positions of a part of a block, and of what it can reach.
pub(super) struct Sorted {
    bucket_bits: u32,
    /// The first slot of each bucket, and the slot after the last one that was not taken.
    begins: Box<[u32]>,
    ends: Box<[u32]>,
    slots: Slots,
    /// True if some of the positions are too far apart for an offset.
    exceeds_reach: bool,
}

impl Sorted {
    pub(super) fn new(parse: &Parse) -> Self {
        let most = match parse.is_large() {
            true => PART + REACH,
            false => parse.page_size() as usize,
        };
        Self {
            bucket_bits: parse.bucket_bits(),
            begins: vec![0; 1 << parse.bucket_bits()].into(),
            ends: vec![0; 1 << parse.bucket_bits()].into(),
            slots: Slots::new(most),
            exceeds_reach: false,
        }
    }

    #[inline(always)]
    fn hash(&self, word: u32) -> usize {
        (word.wrapping_mul(HASH_MULTIPLIER) >> (32 - self.bucket_bits)) as usize
    }

    /// Sorts the positions `from..to` of `input`: a part, and the positions before it that it can reach.
    pub(super) fn sort(&mut self, input: &[u8], from: usize, to: usize) {
        assert!(
            from <= to
                && to + MATCH_START_MARGIN <= input.len() + 1
                && to - from <= self.slots.positions.len() - CANDIDATES,
            "positions to sort"
        );
        self.exceeds_reach = to - from > REACH;
        self.ends.fill(0);
        for p in from..to {
            // SAFETY: twelve bytes follow `p`, as asserted above.
            let bucket = self.hash(unsafe { word(input, p) });
            self.ends[bucket] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        self.begins.copy_from_slice(&self.ends);
        for p in from..to {
            // SAFETY: as above.
            let bytes = unsafe { eight(input, p) };
            let bucket = self.hash(bytes as u32);
            let end = &mut self.ends[bucket];
            self.slots.set(*end as usize, p, bytes);
            *end += 1;
        }
    }

    /// Takes the last position, `p`, whose word is `word`, out of the order; returns its slot and the oldest of the slots of its
    /// candidates. Positions must be taken from the last to the first.
    #[inline(always)]
    pub(super) fn take(&mut self, p: usize, word: u32) -> (usize, usize) {
        let bucket = self.hash(word);
        self.ends[bucket] -= 1;
        let slot = self.ends[bucket] as usize;
        let mut oldest = slot
            .saturating_sub(CANDIDATES)
            .max(self.begins[bucket] as usize);
        while self.exceeds_reach && p - self.slots.positions[CANDIDATES + oldest] as usize > REACH {
            oldest += 1;
        }
        (slot, oldest)
    }

    /// Returns the longest match of the position in `slot` with those in the slots from `oldest` on, the nearest of equals: its
    /// length and offset.
    ///
    /// # Safety
    /// The machine has the instructions of `L`; `input` is the block that was sorted last; [`take`](Self::take) has returned
    /// the slots for it, and they differ.
    #[inline(always)]
    pub(super) unsafe fn longest<L: Lanes>(
        &self,
        input: &[u8],
        (slot, oldest): (usize, usize),
    ) -> Option<(usize, usize)> {
        debug_assert!(oldest < slot && slot - oldest <= CANDIDATES);
        // SAFETY: the slot is below the last end, so the unused values and it are inside the arrays. Eight bytes follow its position,
        // and candidates are before it; the rest is this function's contract.
        unsafe {
            let p = *self.slots.positions.get_unchecked(CANDIDATES + slot) as usize;
            let (length, q) =
                self.slots
                    .longest::<L, false>(input, p, slot, slot - oldest, input)?;
            Some((length, p - q))
        }
    }
}

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
        let eight_at = |q: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[q + i]));
        for q in range.clone() {
            ends[Self::hash(eight_at(q) as u32) + 1] += 1;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let begins = ends.clone().into();
        for q in range {
            let bytes = eight_at(q);
            let end = &mut ends[Self::hash(bytes as u32)];
            slots.set(*end as usize, q, bytes);
            *end += 1;
        }
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
        let slot = |(position, word): (&u32, &u32)| {
            position | word.wrapping_mul(HASH_MULTIPLIER) << 15 & 0xffff_0000
        };
        let (positions, words) = (&self.slots.positions, &self.slots.words);
        let slots = positions.iter().zip(words).skip(CANDIDATES).map(slot);
        buckets.chain(slots)
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
        // SAFETY: twelve bytes follow `p`. A hash is below the number of buckets, and so is the slot of a candidate below that of
        // slots. Padding follows the dictionary.
        unsafe {
            let hash = Self::hash(word(input, p));
            let begin = *self.begins.get_unchecked(hash) as usize;
            let end = *self.begins.get_unchecked(hash + 1) as usize;
            let mut oldest = begin.max(end.saturating_sub(IN_DICTIONARY));
            let furthest = (p + self.n_bytes).saturating_sub(REACH) as u32;
            while oldest < end
                && *self.slots.positions.get_unchecked(CANDIDATES + oldest) < furthest
            {
                oldest += 1;
            }
            if oldest == end {
                return None;
            }
            let (length, q) =
                self.slots
                    .longest::<L, true>(input, p, end, end - oldest, bytes.padded())?;
            Some((length, p + self.n_bytes - q))
        }
    }
}

impl Slots {
    /// Returns the longest match of position `p` of `input` with the positions in the `n` slots before `end`, the nearest of equals:
    /// its length, and the position of `source`, which is the block or a dictionary.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. `n` is 1 to [`CANDIDATES`], and `end` at most the number of slots.
    /// `p + MATCH_START_MARGIN <= input.len()`. The slots have positions of `source`: before `p`, if it is the block; if it is a
    /// dictionary, `IN_DICTIONARY`, followed by [`PADDING`].
    #[inline(always)]
    unsafe fn longest<L: Lanes, const IS_DICTIONARY: bool>(
        &self,
        input: &[u8],
        p: usize,
        end: usize,
        n: usize,
        source: &[u8],
    ) -> Option<(usize, usize)> {
        const { assert!(PADDING >= LONGEST) };
        let end = CANDIDATES + end;
        let cap = LONGEST.min(input.len() - LAST_LITERALS - p);
        // SAFETY: twelve bytes follow `p`.
        let bytes = unsafe { eight(input, p) };
        // No closures here: they would be compiled without the instructions of `L`.
        // SAFETY: the machine and the slots are as this function's contract says; so below.
        let fours = unsafe { self.agreeing::<L>(end, n, bytes, 0) };
        if fours == 0 {
            return None;
        }
        // SAFETY: as above.
        let mut eights = unsafe { self.agreeing::<L>(end, n, bytes, u32::MAX) };
        if cap < 8 {
            eights = 0;
        }
        if eights == 0 {
            // SAFETY: as above.
            let sixes = unsafe { self.agreeing::<L>(end, n, bytes, 0xffff) };
            let mask = if sixes == 0 { 0xff } else { 0xff_ffff };
            // SAFETY: as above.
            let more = unsafe { self.agreeing::<L>(end, n, bytes, mask) };
            let fewer = if sixes == 0 { fours } else { sixes };
            let length = 4 + 2 * usize::from(sixes != 0) + usize::from(more != 0);
            let bits = if more != 0 { more } else { fewer };
            // SAFETY: the bits are those of candidates.
            return Some((length, unsafe { self.candidate(end, bits) }));
        }
        let mut best = (0, 0);
        while eights != 0 {
            // SAFETY: the bits are those of candidates.
            let q = unsafe { self.candidate(end, eights) };
            eights ^= 1 << eights.ilog2();
            // A longer match agrees in the eight bytes that end after the best length.
            let last = best.0.max(7) - 7;
            // SAFETY: these bytes are in the block, since the best length is below `cap`; in a dictionary they may be in its padding.
            if unsafe { eight(source, q + last) != eight(input, p + last) } {
                continue;
            }
            let cap = match IS_DICTIONARY {
                true => cap.min(source.len() - PADDING - q),
                false => cap,
            };
            // SAFETY: eight bytes are equal. `p + cap` is inside the block, and `q + cap` inside the source.
            let length = unsafe { common_length(input, p, source, q, cap) };
            if length > best.0 {
                best = (length, q);
                if length == LONGEST.min(input.len() - LAST_LITERALS - p) {
                    break;
                }
            }
        }
        Some(best)
    }

    /// Returns the position of the nearest of some candidates in the slots before `end`.
    ///
    /// # Safety
    /// `end` counts the unused slots, and the top bit of `bits` is that of a candidate.
    #[inline(always)]
    unsafe fn candidate(&self, end: usize, bits: u64) -> usize {
        let at = end - 1 - bits.leading_zeros() as usize;
        // SAFETY: the slot is that of a candidate, and there are no fewer positions.
        unsafe { *self.positions.get_unchecked(at) as usize }
    }

    /// Returns the candidates with the same word as `bytes`, and the same bits of the four bytes after it in `mask`: of the `n` slots
    /// before `end`, the nearest in the top bit.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. `end` counts the unused slots and is at most the number of all; `n` is 1 to
    /// [`CANDIDATES`].
    #[inline(always)]
    unsafe fn agreeing<L: Lanes>(&self, end: usize, n: usize, bytes: u64, mask: u32) -> u64 {
        debug_assert!(
            (1..=CANDIDATES).contains(&n) && (CANDIDATES..=self.words.len()).contains(&end)
        );
        let mut bits = 0;
        // SAFETY: a vector ends at `end` or before it, and begins at 0 or after it, since L::N divides CANDIDATES; the machine
        // has the instructions.
        unsafe {
            let (word, next) = (L::splat(bytes as u32), L::splat((bytes >> 32) as u32));
            let (mask, zero) = (L::splat(mask), L::splat(0));
            let mut i = CANDIDATES;
            while i > CANDIDATES - n {
                i -= L::N;
                let at = end - CANDIDATES + i;
                let words = L::load(self.words.as_ptr().add(at)).xor(word);
                let nexts = L::load(self.nexts.as_ptr().add(at)).xor(next);
                bits |= u64::from(nexts.and(mask).or(words).equal(zero).bits()) << i;
            }
        }
        bits & u64::MAX << (CANDIDATES - n)
    }
}

/// Returns the length of the common prefix at `p` and at `q` of `source`, of which eight bytes are equal, up to `cap`.
///
/// # Safety
/// `8 <= cap`, `p + cap <= input.len()` and `q + cap <= source.len()`.
#[inline(always)]
unsafe fn common_length(input: &[u8], p: usize, source: &[u8], q: usize, cap: usize) -> usize {
    let mut n = 8;
    while n + 8 <= cap {
        // SAFETY: both reads end at most `cap` bytes after `p` and `q`.
        let difference = unsafe { eight(input, p + n) ^ eight(source, q + n) };
        if difference != 0 {
            return n + difference.trailing_zeros() as usize / 8;
        }
        n += 8;
    }
    while n < cap && input[p + n] == source[q + n] {
        n += 1;
    }
    n
}
