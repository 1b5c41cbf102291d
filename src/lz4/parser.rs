//! The greedy or lazy parse over the candidates of the match finder: chooses matches and writes sequences.

use super::LAZY_BELOW;
use super::compare::{match_length, word};
use super::match_finder::Candidates;
use super::sequence_writer::SequenceWriter;

/// Positions that [`Candidates::ahead`] covers in every case.
const AHEAD: usize = 57;

/// The state of the parse of one block.
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

    /// Writes the literals after the last match; returns the length of the block.
    pub(super) fn finish(self) -> usize {
        self.writer.finish()
    }

    /// Parses until no candidate below `limit` is left.
    ///
    /// # Safety
    /// `candidates` belongs to the block of this parser. It covers every position from the end of the previous call (0
    /// before the first) to a window past `limit`, or to the last searchable position.
    #[inline(always)]
    pub(super) unsafe fn parse(&mut self, candidates: &Candidates, limit: usize, is_lazy: bool) {
        while self.position < limit {
            // SAFETY: the position is at or after the end of the previous call, and below `limit`, so `candidates`
            // covers it by this function's contract.
            let ahead = unsafe { candidates.ahead(self.position) };
            if ahead == 0 {
                self.position += AHEAD;
                continue;
            }
            let p = self.position + ahead.trailing_zeros() as usize;
            // SAFETY: the bit of `p`, at most 63 positions ahead, is set, so `p` is covered and searchable, and its
            // source is before it (see `Candidates`). The same holds for the positions that `verified` and `lazy`
            // return. `p` is at or after the position, which is at or after the anchor. A match has at least four bytes
            // and ends inside the block.
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
                self.position = self.writer.sequence(p, p - q, p + length);
            }
        }
    }

    /// Returns an earlier position with the same word as `p`, if an entry whose hash bits agree is one.
    ///
    /// # Safety
    /// `candidates` belongs to this block, and the bit of `p` is set in it.
    #[inline(always)]
    unsafe fn verified(&self, candidates: &Candidates, p: usize) -> Option<usize> {
        // SAFETY: the bit is set by this function's contract, so `p` is searchable: 12 bytes of the block follow it,
        // and its source is before it.
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
        // SAFETY: `p` is searchable by this function's contract, and `second` returns positions before `p`.
        let agrees = |&q: &usize| unsafe { word(self.input, q) == word(self.input, p) };
        candidates.second(p).filter(agrees)
    }

    /// Returns the match at `p`, or a longer match at the next position (lazy matching).
    ///
    /// # Safety
    /// As [`verified`](Self::verified); `candidates` covers the position after `p` too, or all searchable positions.
    #[inline(always)]
    unsafe fn lazy(
        &self,
        candidates: &Candidates,
        p: usize,
        q: usize,
        length: usize,
    ) -> (usize, usize, usize) {
        // SAFETY: `p` is covered by this function's contract. If the second bit is set, the bit of `p + 1` is set, so
        // `p + 1` is searchable and its verified source is before it.
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
