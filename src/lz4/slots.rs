//! Positions in the order of their hashes, and the longest match of a position among those in the slots before it.

use super::compare::eight;
use super::dictionary::PADDING;
use super::lanes::Lanes;
use super::parse::LAST_LITERALS;

/// Candidates of a position: the latest earlier positions with the same hash.
pub(super) const CANDIDATES: usize = 64;
/// Length at which a comparison stops. A multiple of 8.
const LONGEST: usize = 128;
/// Lanes of the largest vector.
pub(super) const MOST_LANES: usize = 16;
/// The value of unused slots, from which no position is in reach.
const UNUSED: u32 = 1 << 31;

/// Positions in the order of their hashes, then of themselves.
///
/// The unsafe code of the search relies on two invariants: each array has [`CANDIDATES`] unused values before slot 0, and [`MOST_LANES`] more
/// after the last slot; and eight bytes of the block or dictionary whose words were loaded last follow the positions in its slots.
pub(super) struct Slots {
    positions: Box<[u32]>,
    /// The four bytes at each position, and the four after them.
    words: Box<[u32]>,
    nexts: Box<[u32]>,
}

impl Slots {
    /// Returns `n` slots.
    pub(super) fn new(n: usize) -> Self {
        let slots = |value: u32| vec![value; CANDIDATES + n + MOST_LANES].into();
        Self {
            positions: slots(UNUSED),
            words: slots(0),
            nexts: slots(0),
        }
    }

    /// Returns the number of slots.
    pub(super) fn len(&self) -> usize {
        self.positions.len() - CANDIDATES - MOST_LANES
    }

    /// Puts a position into a slot.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: usize, position: usize) {
        self.positions[CANDIDATES + slot] = position as u32;
    }

    /// Loads the words at the positions in the first `n` slots, which lie in order then.
    ///
    /// # Safety
    /// Eight bytes of `source` follow each of these positions.
    #[inline(always)]
    pub(super) unsafe fn load_words(&mut self, source: &[u8], n: usize) {
        let used = CANDIDATES..CANDIDATES + n;
        let words = self.words[used.clone()].iter_mut();
        let words = words.zip(&mut self.nexts[used.clone()]);
        for (position, (word, next)) in self.positions[used].iter().zip(words) {
            // SAFETY: eight bytes follow the position by this function's contract.
            let bytes = unsafe { eight(source, *position as usize) };
            *word = bytes as u32;
            *next = (bytes >> 32) as u32;
        }
    }

    /// Returns the position in a slot, or in the `n`th before it.
    #[inline(always)]
    pub(super) fn position(&self, slot: usize, n: usize) -> usize {
        self.positions[CANDIDATES + slot - n] as usize
    }

    /// Returns the positions and words of all slots.
    #[cfg(gpu_engine)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let used = CANDIDATES..CANDIDATES + self.len();
        let words = self.words[used.clone()].iter().copied();
        self.positions[used].iter().copied().zip(words)
    }

    /// Returns pointers to the positions, the words and the words after them, from a slot on. Before each are [`CANDIDATES`] values, and
    /// after it [`MOST_LANES`].
    ///
    /// # Safety
    /// `slot` is at most the number of slots.
    #[inline(always)]
    pub(super) unsafe fn pointers(&self, slot: usize) -> [*const u32; 3] {
        debug_assert!(slot <= self.len());
        // SAFETY: the slot is at most the number of slots by this function's contract.
        [&self.positions, &self.words, &self.nexts]
            .map(|values| unsafe { values.as_ptr().add(CANDIDATES + slot) })
    }

    /// Returns the candidates with the same word as `bytes`, and the same bits of the four bytes after it in `mask`: of the `n` slots
    /// before `slot`, the nearest in the top bit.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. `slot` is at most the number of slots; `n` is 1 to [`CANDIDATES`].
    #[inline(always)]
    pub(super) unsafe fn agreeing<L: Lanes>(
        &self,
        slot: usize,
        n: usize,
        bytes: u64,
        mask: u32,
    ) -> u64 {
        debug_assert!((1..=CANDIDATES).contains(&n));
        let mut bits = 0;
        // SAFETY: a vector ends at `slot` or before it, and begins at 0 or after it, since L::N divides CANDIDATES; the machine
        // has the instructions.
        unsafe {
            let [_, words, nexts] = self.pointers(slot);
            let (word, next) = (L::splat(bytes as u32), L::splat((bytes >> 32) as u32));
            let (mask, zero) = (L::splat(mask), L::splat(0));
            let mut i = CANDIDATES;
            while i > CANDIDATES - n {
                i -= L::N;
                let words = L::load(words.sub(CANDIDATES - i)).xor(word);
                let nexts = L::load(nexts.sub(CANDIDATES - i)).xor(next);
                bits |= u64::from(nexts.and(mask).or(words).equal(zero).bits()) << i;
            }
        }
        bits & u64::MAX << (CANDIDATES - n)
    }

    /// Returns the position of the nearest of some candidates before `slot`.
    ///
    /// # Safety
    /// `slot` is at most the number of slots, and `bits` is not 0.
    #[inline(always)]
    pub(super) unsafe fn candidate(&self, slot: usize, bits: u64) -> usize {
        debug_assert!(bits != 0 && slot <= self.len());
        let at = CANDIDATES + slot - 1 - bits.leading_zeros() as usize;
        // SAFETY: the top bit of `bits` is that of one of the values before the slot, of which there are enough.
        unsafe { *self.positions.get_unchecked(at) as usize }
    }

    /// Returns the longest of the matches of `p` with some candidates before `slot`, the nearest of equals: its length, and the position of
    /// `source`, which is the block or a dictionary.
    ///
    /// # Safety
    /// `slot` is at most the number of slots. `p + 8 + LAST_LITERALS <= input.len()`. The bits are those of positions of `source`
    /// with eight bytes equal to those at `p`: before `p`, if it is the block; if it is a dictionary, `IS_DICTIONARY`, followed by [`PADDING`].
    #[inline(always)]
    pub(super) unsafe fn longest_of<const IS_DICTIONARY: bool>(
        &self,
        slot: usize,
        mut candidates: u64,
        input: &[u8],
        p: usize,
        source: &[u8],
    ) -> (usize, usize) {
        const { assert!(PADDING >= LONGEST) };
        let longest = LONGEST.min(input.len() - LAST_LITERALS - p);
        let mut best = (0, 0);
        while candidates != 0 {
            // SAFETY: the bits are those of candidates.
            let q = unsafe { self.candidate(slot, candidates) };
            candidates ^= 1 << candidates.ilog2();
            // A longer match agrees in the eight bytes that end after the best length.
            let last = best.0.max(7) - 7;
            // SAFETY: these bytes are in the block, since the best length is below `longest`; in a dictionary they may be in its
            // padding.
            if unsafe { eight(source, q + last) != eight(input, p + last) } {
                continue;
            }
            let cap = match IS_DICTIONARY {
                true => longest.min(source.len() - PADDING - q),
                false => longest,
            };
            // SAFETY: eight bytes are equal. `p + cap` is inside the block, and `q + cap` inside the source.
            let length = unsafe { common_length(input, p, source, q, cap) };
            if length > best.0 {
                best = (length, q);
                if length == longest {
                    break;
                }
            }
        }
        best
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
