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
/// the slots of all buckets hold searchable positions of the block that was sorted last.
pub(super) struct Sorted {
    bucket_bits: u32,
    /// The first slot of each bucket, and the slot after the last one that was not taken.
    begins: Box<[u32]>,
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
            begins: vec![0; 1 << parse.bucket_bits()].into(),
            ends: vec![0; 1 << parse.bucket_bits()].into(),
            positions: slots(),
            words: slots(),
            nexts: slots(),
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
                && to - from <= self.positions.len() - CANDIDATES,
            "positions to sort"
        );
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
            let slot = CANDIDATES + *end as usize;
            *end += 1;
            self.positions[slot] = p as u32;
            self.words[slot] = bytes as u32;
            self.nexts[slot] = (bytes >> 32) as u32;
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
        while p - self.positions[CANDIDATES + oldest] as usize > REACH {
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
        let own = CANDIDATES + slot;
        debug_assert!(oldest < slot && slot - oldest <= CANDIDATES);
        // SAFETY: `own` is below the last end.
        let p = unsafe { *self.positions.get_unchecked(own) as usize };
        let cap = LONGEST.min(input.len() - LAST_LITERALS - p);
        let n = slot - oldest;
        // No closures here: they would be compiled without the instructions of `L`.
        // SAFETY: the machine and the slots are as this function's contract says; so below.
        let fours = unsafe { self.agreeing::<L>(own, n, 0) };
        if fours == 0 {
            return None;
        }
        // SAFETY: as above.
        let mut eights = unsafe { self.agreeing::<L>(own, n, u32::MAX) };
        if cap < 8 {
            eights = 0;
        }
        if eights == 0 {
            // SAFETY: as above.
            let sixes = unsafe { self.agreeing::<L>(own, n, 0xffff) };
            let mask = if sixes == 0 { 0xff } else { 0xff_ffff };
            // SAFETY: as above.
            let more = unsafe { self.agreeing::<L>(own, n, mask) };
            let fewer = if sixes == 0 { fours } else { sixes };
            let length = 4 + 2 * usize::from(sixes != 0) + usize::from(more != 0);
            let bits = if more != 0 { more } else { fewer };
            // SAFETY: the bits are those of candidates.
            return Some((length, p - unsafe { self.candidate(own, bits) }));
        }
        let mut best = (0, 0);
        while eights != 0 {
            // SAFETY: the bits are those of candidates.
            let q = unsafe { self.candidate(own, eights) };
            eights ^= 1 << eights.ilog2();
            // A longer match agrees in the eight bytes that end after the best length.
            let last = best.0.max(7) - 7;
            // SAFETY: these bytes are in the block, since the best length is below `cap`.
            if unsafe { eight(input, q + last) != eight(input, p + last) } {
                continue;
            }
            // SAFETY: both positions are searchable, `q` before `p`; `p + cap` is inside the block.
            let length = unsafe { common_length(input, p, q, cap) };
            if length > best.0 {
                best = (length, p - q);
                if length == cap {
                    break;
                }
            }
        }
        Some(best)
    }

    /// Returns the position of the nearest of some candidates of slot `own`.
    ///
    /// # Safety
    /// `own` counts the unused slots, and the top bit of `bits` is that of a candidate.
    #[inline(always)]
    unsafe fn candidate(&self, own: usize, bits: u64) -> usize {
        let at = own - 1 - bits.leading_zeros() as usize;
        // SAFETY: the slot is that of a candidate, and there are no fewer positions.
        unsafe { *self.positions.get_unchecked(at) as usize }
    }

    /// Returns the candidates of slot `own` with the same word, and the same bits of the four bytes after it in `mask`: of the
    /// `n` slots before it, the nearest in the top bit.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. `own` counts the unused slots and is below the last end; `n` is 1 to
    /// [`CANDIDATES`].
    #[inline(always)]
    unsafe fn agreeing<L: Lanes>(&self, own: usize, n: usize, mask: u32) -> u64 {
        debug_assert!(
            (1..=CANDIDATES).contains(&n) && (CANDIDATES..self.words.len()).contains(&own)
        );
        let mut bits = 0;
        // SAFETY: a vector ends at `own` or before it, and begins at 0 or after it, since L::N divides CANDIDATES; the machine
        // has the instructions.
        unsafe {
            let word = L::splat(*self.words.get_unchecked(own));
            let next = L::splat(*self.nexts.get_unchecked(own));
            let (mask, zero) = (L::splat(mask), L::splat(0));
            let mut i = CANDIDATES;
            while i > CANDIDATES - n {
                i -= L::N;
                let at = own - CANDIDATES + i;
                let words = L::load(self.words.as_ptr().add(at)).xor(word);
                let nexts = L::load(self.nexts.as_ptr().add(at)).xor(next);
                bits |= u64::from(nexts.and(mask).or(words).equal(zero).bits()) << i;
            }
        }
        bits & u64::MAX << (CANDIDATES - n)
    }
}

/// Returns the length of the common prefix at `p` and `q`, of which eight bytes are equal, up to `cap`.
///
/// # Safety
/// `q < p`, `8 <= cap` and `p + cap <= input.len()`.
#[inline(always)]
unsafe fn common_length(input: &[u8], p: usize, q: usize, cap: usize) -> usize {
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
