//! The parse proper: from one candidate to the next, and the sequences that come of it.

use super::LAZY_BELOW;
use super::compare::{extended_back, match_length, word};
use super::search::Found;
use super::write::Writer;

/// Positions that [`Found::ahead`] always sees.
const AHEAD: usize = 57;

/// Where the parse of a block is.
pub(super) struct Walk<'a> {
    input: &'a [u8],
    position: usize,
    writer: Writer<'a>,
}

impl<'a> Walk<'a> {
    pub(super) const fn new(input: &'a [u8], writer: Writer<'a>) -> Self {
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
    #[inline(always)]
    pub(super) fn walk(&mut self, found: &Found, limit: usize, is_lazy: bool, backward: bool) {
        while self.position < limit {
            let ahead = found.ahead(self.position);
            if ahead == 0 {
                self.position += AHEAD;
                continue;
            }
            let p = self.position + ahead.trailing_zeros() as usize;
            let Some(q) = self.verified(found, p) else {
                self.position = p + 1;
                continue;
            };
            let length = match_length(self.input, p, q);
            let (p, q, length) = if is_lazy {
                self.lazy(found, p, q, length)
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

    /// Where the word at `p` was before, if an entry that agrees with its hash agrees with it.
    #[inline(always)]
    fn verified(&self, found: &Found, p: usize) -> Option<usize> {
        let q = found.source(p);
        if word(self.input, q) == word(self.input, p) {
            return Some(q);
        }
        self.second(found, p)
    }

    #[cold]
    fn second(&self, found: &Found, p: usize) -> Option<usize> {
        found
            .second(p)
            .filter(|&q| word(self.input, q) == word(self.input, p))
    }

    /// The match at `p`, or a longer one at the next position.
    #[inline(always)]
    fn lazy(&self, found: &Found, p: usize, q: usize, length: usize) -> (usize, usize, usize) {
        if length < LAZY_BELOW
            && found.ahead(p) & 2 != 0
            && let Some(next_q) = self.verified(found, p + 1)
        {
            let next_length = match_length(self.input, p + 1, next_q);
            if next_length > length {
                return (p + 1, next_q, next_length);
            }
        }
        (p, q, length)
    }
}
