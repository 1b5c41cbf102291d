//! The parse proper: from one candidate to the next, and the sequences that come of it.

use super::LAZY_BELOW;
use super::parse::{LAST_LITERALS, MIN_MATCH};
use super::search::Found;
use super::write::Writer;

/// Bytes behind the start of a match that the quick way reads.
const QUICK_READS: usize = 32;
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
            let length = self.length(p, q);
            let (p, q, length) = if is_lazy {
                self.lazy(found, p, q, length)
            } else {
                (p, q, length)
            };
            let start = if backward {
                self.extended_back(p, p - q)
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
        if self.word(q) == self.word(p) {
            return Some(q);
        }
        self.second(found, p)
    }

    #[cold]
    fn second(&self, found: &Found, p: usize) -> Option<usize> {
        found.second(p).filter(|&q| self.word(q) == self.word(p))
    }

    /// The match at `p`, or a longer one at the next position.
    #[inline(always)]
    fn lazy(&self, found: &Found, p: usize, q: usize, length: usize) -> (usize, usize, usize) {
        if length < LAZY_BELOW
            && found.ahead(p) & 2 != 0
            && let Some(next_q) = self.verified(found, p + 1)
        {
            let next_length = self.length(p + 1, next_q);
            if next_length > length {
                return (p + 1, next_q, next_length);
            }
        }
        (p, q, length)
    }

    /// The start of the match at `p` when it is extended backwards over literals.
    #[inline(always)]
    fn extended_back(&self, p: usize, offset: usize) -> usize {
        let lowest = self.writer.anchor().max(offset);
        let mut start = p;
        while start > lowest && self.input[start - 1] == self.input[start - 1 - offset] {
            start -= 1;
        }
        start
    }

    /// Length of the match at `p` of the bytes at `q`, whose first four agree.
    #[inline(always)]
    fn length(&self, p: usize, q: usize) -> usize {
        if p + QUICK_READS <= self.input.len() {
            let first = self.eight(p + 4) ^ self.eight(q + 4);
            let second = self.eight(p + 12) ^ self.eight(q + 12);
            if first | second != 0 {
                // No branch: either is common.
                let beyond = (first == 0) as usize;
                let agreeing = |difference: u64| difference.trailing_zeros() as usize / 8;
                return MIN_MATCH + agreeing(first) + beyond * agreeing(second);
            }
        }
        self.long_length(p, q)
    }

    #[inline(never)]
    fn long_length(&self, p: usize, q: usize) -> usize {
        let end = self.input.len() - LAST_LITERALS;
        let mut at = p + MIN_MATCH;
        while at + 8 <= end {
            let difference = self.eight(at) ^ self.eight(at - (p - q));
            if difference != 0 {
                return at - p + difference.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        while at < end && self.input[at] == self.input[at - (p - q)] {
            at += 1;
        }
        at - p
    }

    #[inline(always)]
    fn word(&self, p: usize) -> u32 {
        debug_assert!(p + 4 <= self.input.len());
        // SAFETY: candidates and what they name are searchable positions, 12 bytes or more before the end.
        let bytes = unsafe {
            self.input
                .as_ptr()
                .add(p)
                .cast::<[u8; 4]>()
                .read_unaligned()
        };
        u32::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn eight(&self, p: usize) -> u64 {
        debug_assert!(p + 8 <= self.input.len());
        // SAFETY: the callers read up to QUICK_READS from a position that has them, or up to the end, or before that.
        let bytes = unsafe {
            self.input
                .as_ptr()
                .add(p)
                .cast::<[u8; 8]>()
                .read_unaligned()
        };
        u64::from_le_bytes(bytes)
    }
}
