//! The parse proper: from one candidate to the next, and the sequences that come of it.

use super::LAZY_BELOW;
use super::compare::{extended_back, match_length, word};
use super::match_finder::Candidates;
use super::sequence_writer::SequenceWriter;

/// Positions that [`Candidates::ahead`] always sees.
const AHEAD: usize = 57;

/// Where the parse of a block is.
pub(super) struct Parser<'a> {
    input: &'a [u8],
    position: usize,
    writer: SequenceWriter<'a>,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(input: &'a [u8], writer: SequenceWriter<'a>) -> Self {
        Self {
            input,
            position: 0,
            writer,
        }
    }

    /// Writes what follows the last match; returns the length of the block.
    pub(super) fn finish(self) -> usize {
        self.writer.finish()
    }

    /// Goes on until no candidate below `limit` is left.
    ///
    /// # Safety
    /// `found` is of the block of this walk, and covers all positions from where the walk before ended, which began at 0, up
    /// to a window behind `limit`, or all that are searchable.
    #[inline(always)]
    pub(super) unsafe fn parse(
        &mut self,
        candidates: &Candidates,
        limit: usize,
        is_lazy: bool,
        backward: bool,
    ) {
        while self.position < limit {
            // SAFETY: the position is where the walk before ended, or behind, and below `limit`: `found` covers it by this
            // function's contract.
            let ahead = unsafe { candidates.ahead(self.position) };
            if ahead == 0 {
                self.position += AHEAD;
                continue;
            }
            let p = self.position + ahead.trailing_zeros() as usize;
            // SAFETY: the bit of `p`, at most 63 behind the position, is set, so `p` is covered and searchable, and its source
            // is before it (see `Candidates`); so is what `verified` and `lazy` give. `p` is not before the position, nor that
            // before the anchor. A match is of four bytes at least and ends in the block.
            unsafe {
                let Some(q) = self.verified(candidates, p) else {
                    self.position = p + 1;
                    continue;
                };
                let length = match_length(self.input, p, q);
                let (p, q, length) = if is_lazy {
                    self.lazy(candidates, p, q, length)
                } else {
                    (p, q, length)
                };
                let start = if backward {
                    extended_back(self.input, p, p - q, self.writer.anchor())
                } else {
                    p
                };
                self.position = self.writer.sequence(start, p - q, p + length);
            }
        }
    }

    /// An earlier position of the word at `p`, if an entry that agrees with its hash is one.
    ///
    /// # Safety
    /// `found` is of this block, and the bit of `p` is set in it.
    #[inline(always)]
    unsafe fn verified(&self, candidates: &Candidates, p: usize) -> Option<usize> {
        // SAFETY: the bit is set by this function's contract, so `p` is searchable, with 12 bytes of the block from it on,
        // and the source is before it.
        unsafe {
            let q = candidates.source(p);
            if word(self.input, q) == word(self.input, p) {
                return Some(q);
            }
            self.second(candidates, p)
        }
    }

    /// # Safety
    /// As [`verified`](Self::verified).
    #[cold]
    unsafe fn second(&self, candidates: &Candidates, p: usize) -> Option<usize> {
        // SAFETY: `p` is searchable by this function's contract, and `second` gives positions before it.
        let agrees = |&q: &usize| unsafe { word(self.input, q) == word(self.input, p) };
        candidates.second(p).filter(agrees)
    }

    /// The match at `p`, or a longer one at the next position.
    ///
    /// # Safety
    /// As [`verified`](Self::verified); `found` covers the position behind `p` too, or all that are searchable.
    #[inline(always)]
    unsafe fn lazy(
        &self,
        candidates: &Candidates,
        p: usize,
        q: usize,
        length: usize,
    ) -> (usize, usize, usize) {
        // SAFETY: `p` is covered by this function's contract; where the second bit is set, the bit of `p + 1` is, so that is
        // searchable and what is verified is before it.
        unsafe {
            if length < LAZY_BELOW
                && candidates.ahead(p) & 2 != 0
                && let Some(next_q) = self.verified(candidates, p + 1)
            {
                let next_length = match_length(self.input, p + 1, next_q);
                if next_length > length {
                    return (p + 1, next_q, next_length);
                }
            }
        }
        (p, q, length)
    }
}
