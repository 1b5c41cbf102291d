//! The greedy or lazy parse over the candidates of the match finder: chooses matches and writes sequences.

use super::LAZY_BELOW;
use super::candidates::Candidates;
use super::compare::{eight, match_length, word};
use super::dictionary::{Padded, common_length, n_equal};
use super::parse::LAST_LITERALS;
use super::sequence_writer::SequenceWriter;

/// Positions that [`Candidates::ahead`] covers in every case.
const AHEAD: usize = 57;

/// Equal bytes that a match in a dictionary needs.
const IN_DICTIONARY: usize = 5;

/// The state of the parse of one block.
pub(super) struct Parser<'a> {
    input: &'a [u8],
    position: usize,
    writer: SequenceWriter<'a>,
}

/// A match in the block or in a dictionary.
struct Found {
    length: usize,
    offset: usize,
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

    /// As [`parse`](Self::parse), with matches in a dictionary.
    ///
    /// # Safety
    /// As [`parse`](Self::parse); the candidates are those of a search with this dictionary.
    #[inline(always)]
    pub(super) unsafe fn parse_with(
        &mut self,
        candidates: &Candidates,
        limit: usize,
        is_lazy: bool,
        dictionary: Padded<'_>,
    ) {
        while self.position < limit {
            // SAFETY: the position is at or after the end of the previous call, and below `limit`, so `candidates`
            // covers it by this function's contract.
            let ahead = unsafe { candidates.ahead(self.position) };
            if ahead == 0 {
                self.position += AHEAD;
                continue;
            }
            let mut p = self.position + ahead.trailing_zeros() as usize;
            // SAFETY: the bit of `p`, at most 63 positions ahead, is set, so `p` is covered and searchable. If the second bit is
            // set, so is `p + 1`. `p` is at or after the position, which is at or after the anchor. A match has at least four bytes
            // and ends inside the block.
            unsafe {
                let Some(mut found) = self.found(candidates, p, dictionary) else {
                    self.position = p + 1;
                    continue;
                };
                if is_lazy
                    && found.length < LAZY_BELOW
                    && candidates.ahead(p) & 2 != 0
                    && let Some(next) = self.found(candidates, p + 1, dictionary)
                    && next.length > found.length
                {
                    (p, found) = (p + 1, next);
                }
                self.position = self.writer.sequence(p, found.offset, p + found.length);
            }
        }
    }

    /// Returns the match at `p`: in the block, or in the dictionary if more of the first eight bytes agree there.
    ///
    /// # Safety
    /// As [`verified`](Self::verified); the candidates are those of a search with this dictionary.
    #[inline(always)]
    unsafe fn found(
        &self,
        candidates: &Candidates,
        p: usize,
        dictionary: Padded<'_>,
    ) -> Option<Found> {
        // SAFETY: the bit of `p` is set by this function's contract, so `p` is searchable: 12 bytes of the block follow it. Sources
        // that are before `p` are inside the block. Eight bytes of the dictionary follow a position in it.
        unsafe {
            let q = candidates.source(p);
            let mut own = (q < p && word(self.input, q) == word(self.input, p)).then_some(q);
            if own.is_none() && q < p {
                own = self.second(candidates, p);
            }
            if let Some(there) = candidates.in_dictionary(p) {
                let here = eight(self.input, p);
                let n_there = n_equal(eight(dictionary.padded(), there) ^ here);
                let n_own = own.map_or(0, |q| n_equal(eight(self.input, q) ^ here));
                if n_there > n_own && n_there >= IN_DICTIONARY {
                    let most = self.input.len() - LAST_LITERALS - p;
                    let rest = most.min(dictionary.len() - there);
                    let mut length = n_there.min(rest);
                    if length == 8 {
                        let source = dictionary.padded();
                        length = common_length(self.input, p, source, there, length, rest);
                    }
                    let offset = p + dictionary.len() - there;
                    return Some(Found { length, offset });
                }
            }
            let q = own?;
            let length = match_length(self.input, p, q);
            Some(Found {
                length,
                offset: p - q,
            })
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
