//! The candidates that the match finder hands to the parser.

use super::WINDOW;
use super::look_up::NOWHERE;

/// Windows per call of the match finder, before the parser runs over their candidates.
pub(super) const WINDOWS: usize = 16;

/// The candidates of some adjacent windows.
///
/// The unsafe code of the parser relies on this invariant: a set bit marks a searchable position, which 12 bytes of the
/// block follow, and its source is before it. A source comes from an entry, which holds a position of an earlier
/// window; from an empty entry, which [`MatchFinder::start_block`](super::match_finder::MatchFinder::start_block) chooses so that the invariant holds; or from a run,
/// whose source is the position before. Position 0 is never a run. With a dictionary, a set bit has a source before it, or a
/// position in the dictionary, or both.
pub(super) struct Candidates {
    /// First position.
    pub(super) first: usize,
    /// Position after the last one.
    pub(super) end: usize,
    /// One bit per position, little-endian, set if an entry agrees; zeros after the end.
    pub(super) bits: [u64; WINDOWS + 3],
    /// The earlier position that a position may match, valid if its bit is set: less than the position.
    pub(super) sources: [u32; (WINDOWS + 1) * WINDOW],
    /// The position to try if the source fails; a value that is not before the position means none. With tags there is
    /// none.
    pub(super) seconds: [u32; (WINDOWS + 1) * WINDOW],
    /// With a dictionary: the position in it that a position may match, valid if its bit is set, else [`NOWHERE`]. The source of a
    /// set bit is not before the position then if no entry agrees.
    pub(super) in_dictionary: [u32; (WINDOWS + 1) * WINDOW],
}

impl Candidates {
    /// Returns the bits from position `p` on: at least 57, then zeros.
    ///
    /// # Safety
    /// `p` is in these windows: at least `first` and less than `end`.
    #[inline(always)]
    pub(super) unsafe fn ahead(&self, p: usize) -> u64 {
        debug_assert!(self.first <= p && p < self.end);
        let at = p - self.first;
        // SAFETY: `at` is less than (WINDOWS + 1) * WINDOW by this function's contract, so the eight bytes from byte
        // `at / 8` on are inside `bits`, which is two words longer.
        let word = unsafe { self.bits.as_ptr().byte_add(at / 8).read_unaligned() };
        u64::from_le(word) >> (at % 8)
    }

    /// Returns the source of position `p`.
    ///
    /// # Safety
    /// As [`ahead`](Self::ahead).
    #[inline(always)]
    pub(super) unsafe fn source(&self, p: usize) -> usize {
        // SAFETY: the contract of `ahead` is this function's contract.
        debug_assert!(unsafe { self.ahead(p) } & 1 == 1);
        // SAFETY: `p - first` is less than the number of sources by this function's contract.
        unsafe { *self.sources.get_unchecked(p - self.first) as usize }
    }

    pub(super) fn second(&self, p: usize) -> Option<usize> {
        let second = self.seconds[p - self.first] as usize;
        (second < p).then_some(second)
    }

    /// Returns the position in the dictionary that position `p` may match; eight bytes of the dictionary follow it.
    ///
    /// # Safety
    /// As [`ahead`](Self::ahead).
    #[inline(always)]
    pub(super) unsafe fn in_dictionary(&self, p: usize) -> Option<usize> {
        // SAFETY: `p - first` is less than the number of values by this function's contract.
        let position = unsafe { *self.in_dictionary.get_unchecked(p - self.first) };
        (position != NOWHERE).then_some(position as usize)
    }

    /// Drops all windows but the last, which the parser has not finished.
    pub(super) fn keep_last(&mut self) {
        let last = (self.end - self.first) / WINDOW - 1;
        self.first = self.end - WINDOW;
        self.bits[0] = self.bits[last];
        self.bits[1..].fill(0);
        self.sources
            .copy_within(last * WINDOW..(last + 1) * WINDOW, 0);
        self.seconds
            .copy_within(last * WINDOW..(last + 1) * WINDOW, 0);
    }

    /// Does for the dictionary what [`keep_last`](Self::keep_last) does for the rest, and comes before it. The windows that follow are
    /// searched for matches in the dictionary only if it `is_in_reach`.
    pub(super) fn keep_last_in_dictionary(&mut self, is_in_reach: bool) {
        let last = (self.end - self.first) / WINDOW - 1;
        self.in_dictionary
            .copy_within(last * WINDOW..(last + 1) * WINDOW, 0);
        if !is_in_reach {
            self.in_dictionary[WINDOW..].fill(NOWHERE);
        }
    }
}
