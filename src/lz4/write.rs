//! Sequences to bytes.

use super::parse::MIN_MATCH;
use super::steps::{STEP, copy_steps};

/// Largest length that a token's half holds; it then says that more bytes follow.
const TOKEN_MAX: usize = 15;
/// Bytes that a short sequence may write: a token, literals, an offset, a byte of length.
const SHORT_WRITES: usize = 1 + STEP + 2 + 1;

/// Bytes of room that writing a block of `n_bytes` takes: the longest block, and what may be written past it.
pub(super) const fn room(n_bytes: usize) -> usize {
    n_bytes + n_bytes / 255 + 16 + SHORT_WRITES
}

/// Writes the sequences of `input`, one after the other.
pub(super) struct Writer<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    at: usize,
    anchor: usize,
}

impl<'a> Writer<'a> {
    /// `output` has the [`room`] of `input`.
    pub(super) fn new(input: &'a [u8], output: &'a mut [u8]) -> Self {
        assert!(
            output.len() >= room(input.len()),
            "too little room for a block"
        );
        Self {
            input,
            output,
            at: 0,
            anchor: 0,
        }
    }

    /// Where the literals of the next sequence begin.
    #[inline(always)]
    pub(super) const fn anchor(&self) -> usize {
        self.anchor
    }

    /// Literals up to `start`, then a match to `end`, which is returned.
    #[inline(always)]
    pub(super) fn sequence(&mut self, start: usize, offset: usize, end: usize) -> usize {
        let (n_literals, extra) = (start - self.anchor, end - start - MIN_MATCH);
        if n_literals < TOKEN_MAX
            && extra < TOKEN_MAX + 255
            && self.anchor + STEP <= self.input.len()
        {
            debug_assert!(self.at + SHORT_WRITES <= self.output.len());
            // SAFETY: a step follows the anchor, and what is written so far is no longer than the longest block of what is
            // parsed so far, so the room for a short sequence is there.
            unsafe {
                let token = self.output.as_mut_ptr().add(self.at);
                token.write((n_literals << 4 | extra.min(TOKEN_MAX)) as u8);
                copy_steps(self.input.as_ptr().add(self.anchor), token.add(1), STEP);
                self.at += 1 + n_literals + write_match(token.add(1 + n_literals), offset, extra);
            }
        } else if n_literals < TOKEN_MAX + 255
            && extra < TOKEN_MAX + 255
            && self.anchor + n_literals + STEP <= self.input.len()
        {
            self.middling_sequence(n_literals, offset, extra);
        } else {
            self.long_sequence(n_literals, offset, extra);
        }
        self.anchor = end;
        end
    }

    /// One byte continues the length of the literals, and behind these a step may be read.
    #[inline(always)]
    fn middling_sequence(&mut self, n_literals: usize, offset: usize, extra: usize) {
        debug_assert!(n_literals >= TOKEN_MAX);
        debug_assert!(self.at + n_literals + 1 + SHORT_WRITES <= self.output.len());
        // SAFETY: a step follows the literals, and what is written so far is no longer than the longest block of what is
        // parsed so far, so the room for the literals and for a short sequence is there.
        unsafe {
            let token = self.output.as_mut_ptr().add(self.at);
            token.write((TOKEN_MAX << 4 | extra.min(TOKEN_MAX)) as u8);
            token.add(1).write((n_literals - TOKEN_MAX) as u8);
            copy_steps(
                self.input.as_ptr().add(self.anchor),
                token.add(2),
                n_literals,
            );
            self.at += 2 + n_literals + write_match(token.add(2 + n_literals), offset, extra);
        }
    }

    /// A match right behind the one before, to `end`.
    #[inline(always)]
    pub(super) fn match_only(&mut self, offset: usize, end: usize) {
        let extra = end - self.anchor - MIN_MATCH;
        if extra < TOKEN_MAX + 255 {
            debug_assert!(self.at + SHORT_WRITES <= self.output.len());
            // SAFETY: what is written so far is no longer than the longest block of what is parsed so far, so the room for a
            // short sequence is there.
            unsafe {
                let token = self.output.as_mut_ptr().add(self.at);
                token.write(extra.min(TOKEN_MAX) as u8);
                self.at += 1 + write_match(token.add(1), offset, extra);
            }
        } else {
            self.long_sequence(0, offset, extra);
        }
        self.anchor = end;
    }

    #[inline(always)]
    fn long_sequence(&mut self, n_literals: usize, offset: usize, extra: usize) {
        let literals = &self.input[self.anchor..self.anchor + n_literals];
        self.at += write_sequence(literals, offset, extra, &mut self.output[self.at..]);
    }

    /// Writes what follows the last match; returns the length of the block.
    #[inline(always)]
    pub(super) fn finish(self) -> usize {
        let literals = &self.input[self.anchor..];
        self.at + write_literals(literals, 0, &mut self.output[self.at..])
    }
}

/// Writes any sequence; returns its length.
#[inline(never)]
fn write_sequence(literals: &[u8], offset: usize, extra: usize, to: &mut [u8]) -> usize {
    let at = write_literals(literals, extra.min(TOKEN_MAX), to);
    to[at..at + 2].copy_from_slice(&(offset as u16).to_le_bytes());
    at + 2 + write_length(extra, &mut to[at + 2..])
}

/// Writes a token and literals; returns their length.
#[inline(never)]
fn write_literals(literals: &[u8], low_half: usize, to: &mut [u8]) -> usize {
    let count = literals.len();
    to[0] = (count.min(TOKEN_MAX) << 4 | low_half) as u8;
    let at = 1 + write_length(count, &mut to[1..]);
    to[at..at + count].copy_from_slice(literals);
    at + count
}

/// Writes the bytes that continue a length which does not fit its half of the token; returns how many.
fn write_length(length: usize, to: &mut [u8]) -> usize {
    if length < TOKEN_MAX {
        return 0;
    }
    let left = length - TOKEN_MAX;
    to[..left / 255].fill(255);
    to[left / 255] = (left % 255) as u8;
    left / 255 + 1
}

/// Writes the offset of a match and the byte that may continue its length; returns how many bytes count.
///
/// # Safety
/// Three bytes may be written at `to`; `extra`, which is the length beyond the shortest, is below `TOKEN_MAX + 255`.
#[inline(always)]
unsafe fn write_match(to: *mut u8, offset: usize, extra: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        to.cast::<[u8; 2]>()
            .write_unaligned((offset as u16).to_le_bytes());
        // Counts only if the length does not fit the token.
        to.add(2).write(extra.wrapping_sub(TOKEN_MAX) as u8);
    }
    2 + usize::from(extra >= TOKEN_MAX)
}
