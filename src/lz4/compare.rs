//! Bytes of a block compared with earlier ones.
//!
//! The functions read without bounds checks, so each names the positions that its caller keeps within the block.

use super::parse::{LAST_LITERALS, MATCH_START_MARGIN, MIN_MATCH};

/// Bytes behind the start of a match that the quick way reads.
const FAST_PATH_READS: usize = 32;

/// The little-endian word at `p`.
///
/// # Safety
/// `p + 4 <= input.len()`.
#[inline(always)]
pub(super) unsafe fn word(input: &[u8], p: usize) -> u32 {
    debug_assert!(p + 4 <= input.len());
    // SAFETY: the four bytes are in `input` by this function's contract; an array of bytes has no alignment.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 4]>().read() };
    u32::from_le_bytes(bytes)
}

/// The eight bytes at `p`, little-endian.
///
/// # Safety
/// `p + 8 <= input.len()`.
#[inline(always)]
pub(super) unsafe fn eight(input: &[u8], p: usize) -> u64 {
    debug_assert!(p + 8 <= input.len());
    // SAFETY: the eight bytes are in `input` by this function's contract; an array of bytes has no alignment.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 8]>().read() };
    u64::from_le_bytes(bytes)
}

/// Length of the match at `p` of the bytes at `q`, whose first four agree.
///
/// # Safety
/// `q < p` and `p + MATCH_START_MARGIN <= input.len()`.
#[inline(always)]
pub(super) unsafe fn match_length(input: &[u8], p: usize, q: usize) -> usize {
    debug_assert!(q < p && p + MATCH_START_MARGIN <= input.len());
    if p + FAST_PATH_READS <= input.len() {
        // SAFETY: the reads end 20 bytes behind `p` at most, which this branch has compared with the length, and those at
        // `q`, which is less than `p` by this function's contract, end before.
        let (first, second) = unsafe {
            (
                eight(input, p + 4) ^ eight(input, q + 4),
                eight(input, p + 12) ^ eight(input, q + 12),
            )
        };
        if first | second != 0 {
            // No branch: either is common.
            let beyond = (first == 0) as usize;
            let agreeing = |difference: u64| difference.trailing_zeros() as usize / 8;
            return MIN_MATCH + agreeing(first) + beyond * agreeing(second);
        }
    }
    // SAFETY: `p` and `q` are as this function's contract says, which is that of `long_match_length`.
    unsafe { long_match_length(input, p, q) }
}

/// # Safety
/// As [`match_length_by_eights`].
#[inline(never)]
unsafe fn long_match_length(input: &[u8], p: usize, q: usize) -> usize {
    // SAFETY: `p` and `q` are as this function's contract says, which is that of `match_length_by_eights`.
    unsafe { match_length_by_eights(input, p, q) }
}

/// The same as [`match_length`], with a branch for every eight bytes: better where the next step waits for the length.
///
/// # Safety
/// `q < p` and `p + MATCH_START_MARGIN <= input.len()`.
#[inline(always)]
pub(super) unsafe fn match_length_by_eights(input: &[u8], p: usize, q: usize) -> usize {
    debug_assert!(q < p && p + MATCH_START_MARGIN <= input.len());
    let end = input.len() - LAST_LITERALS;
    let mut at = p + MIN_MATCH;
    while at + 8 <= end {
        // SAFETY: the loop's condition keeps the read at `at` in `input`; the other one is before it, and not before the
        // start, since `at >= p` and `q < p` by this function's contract.
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

/// The start of the match at `p` when it is extended backwards over literals, not beyond `anchor`.
///
/// # Safety
/// `offset <= p`, `anchor <= p` and `p <= input.len()`.
#[inline(always)]
pub(super) unsafe fn extended_back(input: &[u8], p: usize, offset: usize, anchor: usize) -> usize {
    debug_assert!(offset <= p && anchor <= p && p <= input.len());
    let lowest = anchor.max(offset);
    let mut start = p;
    // No branch for how far: that is mispredicted often.
    if p >= offset + 8 {
        // SAFETY: both reads end at `p` at the latest, which is in `input` by this function's contract, and begin at
        // `p - offset - 8` at the earliest, which this branch has compared with 0.
        let difference = unsafe { eight(input, p - 8) ^ eight(input, p - 8 - offset) };
        let n = difference.leading_zeros() as usize / 8;
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
