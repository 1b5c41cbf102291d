//! Comparison of the bytes at two positions of a block, eight at a time.
//!
//! The functions read without bounds checks, so each names the positions that its caller keeps inside the block.

use super::parse::{LAST_LITERALS, MATCH_START_MARGIN, MIN_MATCH};

/// Bytes after the start of a match that the fast path may read.
const FAST_PATH_READS: usize = 32;

/// Returns the little-endian word at `p`.
///
/// # Safety
/// `p + 4 <= input.len()`.
#[inline(always)]
pub(super) unsafe fn word(input: &[u8], p: usize) -> u32 {
    debug_assert!(p + 4 <= input.len());
    // SAFETY: the four bytes are inside `input` by this function's contract; a byte array has alignment 1.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 4]>().read() };
    u32::from_le_bytes(bytes)
}

/// Returns the eight bytes at `p` as a little-endian word.
///
/// # Safety
/// `p + 8 <= input.len()`.
#[inline(always)]
pub(super) unsafe fn eight(input: &[u8], p: usize) -> u64 {
    debug_assert!(p + 8 <= input.len());
    // SAFETY: the eight bytes are inside `input` by this function's contract; a byte array has alignment 1.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 8]>().read() };
    u64::from_le_bytes(bytes)
}

/// Returns the length of the match between `p` and `q`, whose first four bytes are equal.
///
/// # Safety
/// `q < p` and `p + MATCH_START_MARGIN <= input.len()`.
#[inline(always)]
pub(super) unsafe fn match_length(input: &[u8], p: usize, q: usize) -> usize {
    debug_assert!(q < p && p + MATCH_START_MARGIN <= input.len());
    if p + FAST_PATH_READS <= input.len() {
        // SAFETY: the reads end at most 20 bytes after `p`, inside `input` by the comparison above; the reads at `q`,
        // which is before `p` by this function's contract, end earlier.
        let (first, second) = unsafe {
            (
                eight(input, p + 4) ^ eight(input, q + 4),
                eight(input, p + 12) ^ eight(input, q + 12),
            )
        };
        if first | second != 0 {
            // Branchless: both outcomes are common, so a branch would be mispredicted often.
            let beyond = (first == 0) as usize;
            let agreeing = |difference: u64| difference.trailing_zeros() as usize / 8;
            return MIN_MATCH + agreeing(first) + beyond * agreeing(second);
        }
    }
    // SAFETY: the contract of `long_match_length` is this function's contract.
    unsafe { long_match_length(input, p, q) }
}

/// # Safety
/// As [`match_length_by_eights`].
#[inline(never)]
unsafe fn long_match_length(input: &[u8], p: usize, q: usize) -> usize {
    // SAFETY: the contract of `match_length_by_eights` is this function's contract.
    unsafe { match_length_by_eights(input, p, q) }
}

/// The same as [`match_length`], with a branch for every eight bytes: faster where the next step depends on the length.
///
/// # Safety
/// `q < p` and `p + MATCH_START_MARGIN <= input.len()`.
#[inline(always)]
pub(super) unsafe fn match_length_by_eights(input: &[u8], p: usize, q: usize) -> usize {
    debug_assert!(q < p && p + MATCH_START_MARGIN <= input.len());
    let end = input.len() - LAST_LITERALS;
    let mut at = p + MIN_MATCH;
    while at + 8 <= end {
        // SAFETY: the loop condition keeps the read at `at` inside `input`. The other read is before it, and not before
        // the start, since `at >= p` and `q < p` by this function's contract.
        let difference = unsafe { eight(input, at) ^ eight(input, at - (p - q)) };
        if difference != 0 {
            return at - p + difference.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < end && input[at] == input[at - (p - q)] {
        at += 1;
    }
    at - p
}

/// Returns how many of the eight bytes before `p` equal those before its source, from the last one on.
///
/// # Safety
/// `offset + 8 <= p` and `p <= input.len()`.
#[inline(always)]
pub(super) unsafe fn n_equal_before(input: &[u8], p: usize, offset: usize) -> usize {
    debug_assert!(offset + 8 <= p && p <= input.len());
    // SAFETY: both reads end at or before `p`, which is inside `input`, and begin at `p - offset - 8` or later, which is at least
    // 0, by this function's contract.
    let difference = unsafe { eight(input, p - 8) ^ eight(input, p - 8 - offset) };
    difference.leading_zeros() as usize / 8
}

/// Returns the start of the match at `p` after extending it backward over literals, at most to `anchor`.
///
/// # Safety
/// `offset <= p`, `anchor <= p` and `p <= input.len()`.
#[inline(always)]
pub(super) unsafe fn extended_back(input: &[u8], p: usize, offset: usize, anchor: usize) -> usize {
    debug_assert!(offset <= p && anchor <= p && p <= input.len());
    let lowest = anchor.max(offset);
    let mut start = p;
    // Branchless in the number of equal bytes, which would be mispredicted often.
    if p >= offset + 8 {
        // SAFETY: `p` is inside `input` by this function's contract, and far enough from the source by the comparison above.
        let n = unsafe { n_equal_before(input, p, offset) };
        start -= n.min(p - lowest);
        if n < 8 {
            return start;
        }
    }
    while start > lowest && input[start - 1] == input[start - 1 - offset] {
        start -= 1;
    }
    start
}
