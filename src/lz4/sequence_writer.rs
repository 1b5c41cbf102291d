//! Encodes sequences (literals, then a match) as bytes of an LZ4 block.

use super::parse::{MIN_MATCH, TOKEN_MAX};
use super::wild_copy::{STEP, wild_copy};

/// Bytes that a short sequence may write: a token, one step of literals, an offset, one byte of length.
const SHORT_WRITES: usize = 1 + STEP + 2 + 1;

/// Returns the buffer size for a block of `n_bytes`: `LZ4_compressBound`, and slack for wild copies.
pub(super) const fn block_capacity(n_bytes: usize) -> usize {
    n_bytes + n_bytes / 255 + 16 + SHORT_WRITES
}

/// Writes the sequences of `input`, one after the other.
///
/// The unsafe code here relies on three invariants, which its methods maintain: `output` has [`block_capacity`] bytes
/// of `input`, as `new` checks; `anchor <= input.len()`, since the contracts require that sequences end inside `input`;
/// and `at <= anchor + anchor / 255`. The last one holds because a sequence of l literals and a match of m bytes, at
/// least 4, takes 3 + l bytes, (l - 15) / 255 + 1 more if l >= 15, and (m - 19) / 255 + 1 more if m >= 19: at most l +
/// l / 255 + m, while `anchor` grows by l + m. So [`SHORT_WRITES`] bytes more than the remaining literals are always
/// free from `at` on.
pub(super) struct SequenceWriter<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    at: usize,
    anchor: usize,
}

impl<'a> SequenceWriter<'a> {
    /// Returns a writer to `output`, which has at least [`block_capacity`] bytes.
    pub(super) fn new(input: &'a [u8], output: &'a mut [u8]) -> Self {
        assert!(
            output.len() >= block_capacity(input.len()),
            "too little room for a block"
        );
        Self {
            input,
            output,
            at: 0,
            anchor: 0,
        }
    }

    /// Returns the position where the literals of the next sequence begin.
    #[inline(always)]
    pub(super) const fn anchor(&self) -> usize {
        self.anchor
    }

    /// Writes the literals up to `start`, then a match up to `end`; returns `end`.
    ///
    /// # Safety
    /// `anchor() <= start`, `start + MIN_MATCH <= end` and `end <= input.len()`.
    #[inline(always)]
    pub(super) unsafe fn sequence(&mut self, start: usize, offset: usize, end: usize) -> usize {
        debug_assert!(self.anchor <= start && start + MIN_MATCH <= end && end <= self.input.len());
        let (n_literals, extra) = (start - self.anchor, end - start - MIN_MATCH);
        if n_literals < TOKEN_MAX
            && extra < TOKEN_MAX + 255
            && self.anchor + STEP <= self.input.len()
        {
            debug_assert!(self.at + SHORT_WRITES <= self.output.len());
            // SAFETY: the comparison above ensures that a step follows the anchor in `input`. A token, a step, an
            // offset and a byte of length are SHORT_WRITES bytes, which are free (see `SequenceWriter`). Fewer than
            // TOKEN_MAX literals fit in the step, and `extra` fits in one byte of length by the comparison above.
            unsafe {
                let token = self.output.as_mut_ptr().add(self.at);
                token.write((n_literals << 4 | extra.min(TOKEN_MAX)) as u8);
                wild_copy(self.input.as_ptr().add(self.anchor), token.add(1), STEP);
                self.at += 1 + n_literals + write_match(token.add(1 + n_literals), offset, extra);
            }
        } else if n_literals < TOKEN_MAX + 255
            && extra < TOKEN_MAX + 255
            && self.anchor + n_literals + STEP <= self.input.len()
        {
            // SAFETY: the comparisons above are the contract of `middling_sequence`.
            unsafe { self.middling_sequence(n_literals, offset, extra) };
        } else {
            self.long_sequence(n_literals, offset, extra);
        }
        self.anchor = end;
        end
    }

    /// Writes a sequence whose literals need one byte of length after the token, and whose match needs at most one.
    ///
    /// # Safety
    /// `n_literals` and `extra` are below `TOKEN_MAX + 255`, and `n_literals` is at least `TOKEN_MAX`. A step follows
    /// the literals in `input`.
    #[inline(always)]
    unsafe fn middling_sequence(&mut self, n_literals: usize, offset: usize, extra: usize) {
        debug_assert!(n_literals >= TOKEN_MAX);
        debug_assert!(self.at + n_literals + 1 + SHORT_WRITES <= self.output.len());
        // SAFETY: a step follows the literals in `input` by this function's contract, so all steps read are inside it.
        // Writes end less than n_literals + 2 + STEP + 3 bytes after `at`; since anchor + n_literals + STEP is at most
        // input.len(), that is inside `output` (see `SequenceWriter`).
        unsafe {
            let token = self.output.as_mut_ptr().add(self.at);
            token.write((TOKEN_MAX << 4 | extra.min(TOKEN_MAX)) as u8);
            token.add(1).write((n_literals - TOKEN_MAX) as u8);
            wild_copy(
                self.input.as_ptr().add(self.anchor),
                token.add(2),
                n_literals,
            );
            self.at += 2 + n_literals + write_match(token.add(2 + n_literals), offset, extra);
        }
    }

    /// Writes a match without literals, directly after the previous match, up to `end`.
    ///
    /// # Safety
    /// `anchor() + MIN_MATCH <= end` and `end <= input.len()`.
    #[inline(always)]
    pub(super) unsafe fn match_only(&mut self, offset: usize, end: usize) {
        debug_assert!(self.anchor + MIN_MATCH <= end && end <= self.input.len());
        let extra = end - self.anchor - MIN_MATCH;
        if extra < TOKEN_MAX + 255 {
            debug_assert!(self.at + SHORT_WRITES <= self.output.len());
            // SAFETY: a token, an offset and a byte of length are fewer than SHORT_WRITES bytes, which are free (see
            // `SequenceWriter`). `extra` fits in one byte of length by the comparison above.
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

    /// Writes the literals after the last match; returns the length of the block.
    #[inline(always)]
    pub(super) fn finish(self) -> usize {
        let literals = &self.input[self.anchor..];
        self.at + write_literals(literals, 0, &mut self.output[self.at..])
    }
}

/// Writes a sequence of any lengths; returns its size in bytes.
#[inline(never)]
fn write_sequence(literals: &[u8], offset: usize, extra: usize, to: &mut [u8]) -> usize {
    let at = write_literals(literals, extra.min(TOKEN_MAX), to);
    to[at..at + 2].copy_from_slice(&(offset as u16).to_le_bytes());
    at + 2 + write_length(extra, &mut to[at + 2..])
}

/// Writes a token and literals; returns their size in bytes.
#[inline(never)]
fn write_literals(literals: &[u8], low_half: usize, to: &mut [u8]) -> usize {
    let count = literals.len();
    to[0] = (count.min(TOKEN_MAX) << 4 | low_half) as u8;
    let at = 1 + write_length(count, &mut to[1..]);
    to[at..at + count].copy_from_slice(literals);
    at + count
}

/// Writes the bytes that extend a length beyond its nibble of the token; returns their number.
fn write_length(length: usize, to: &mut [u8]) -> usize {
    if length < TOKEN_MAX {
        return 0;
    }
    let left = length - TOKEN_MAX;
    to[..left / 255].fill(255);
    to[left / 255] = (left % 255) as u8;
    left / 255 + 1
}

/// Writes the offset of a match and one byte that may extend its length; returns the number of bytes that count.
///
/// # Safety
/// Three bytes are writable at `to`. The bytes are correct only if `extra`, the match length less 4, is below
/// `TOKEN_MAX + 255`.
#[inline(always)]
unsafe fn write_match(to: *mut u8, offset: usize, extra: usize) -> usize {
    // SAFETY: three bytes are writable at `to` by this function's contract.
    unsafe {
        to.cast::<[u8; 2]>()
            .write_unaligned((offset as u16).to_le_bytes());
        // The byte counts only if the length exceeds the token's nibble.
        to.add(2).write(extra.wrapping_sub(TOKEN_MAX) as u8);
    }
    2 + usize::from(extra >= TOKEN_MAX)
}
