//! Bytes of a block compared with earlier ones.

use super::parse::{LAST_LITERALS, MIN_MATCH};

/// Bytes behind the start of a match that the quick way reads.
const QUICK_READS: usize = 32;

/// The word at `p`, which `input` has: positions that are searched are followed by 12 bytes.
#[inline(always)]
pub(super) fn word(input: &[u8], p: usize) -> u32 {
    debug_assert!(p + 4 <= input.len());
    // SAFETY: as the caller says.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 4]>().read_unaligned() };
    u32::from_le_bytes(bytes)
}

/// Eight bytes at `p`, which `input` has.
#[inline(always)]
pub(super) fn eight(input: &[u8], p: usize) -> u64 {
    debug_assert!(p + 8 <= input.len());
    // SAFETY: as the caller says.
    let bytes = unsafe { input.as_ptr().add(p).cast::<[u8; 8]>().read_unaligned() };
    u64::from_le_bytes(bytes)
}

/// Length of the match at `p` of the bytes at `q`, less than `p`, whose first four agree.
#[inline(always)]
pub(super) fn match_length(input: &[u8], p: usize, q: usize) -> usize {
    if p + QUICK_READS <= input.len() {
        let first = eight(input, p + 4) ^ eight(input, q + 4);
        let second = eight(input, p + 12) ^ eight(input, q + 12);
        if first | second != 0 {
            // No branch: either is common.
            let beyond = (first == 0) as usize;
            let agreeing = |difference: u64| difference.trailing_zeros() as usize / 8;
            return MIN_MATCH + agreeing(first) + beyond * agreeing(second);
        }
    }
    long_match_length(input, p, q)
}

#[inline(never)]
fn long_match_length(input: &[u8], p: usize, q: usize) -> usize {
    match_length_by_eights(input, p, q)
}

/// The same, with a branch for every eight bytes: better where the next step waits for the length.
#[inline(always)]
pub(super) fn match_length_by_eights(input: &[u8], p: usize, q: usize) -> usize {
    let end = input.len() - LAST_LITERALS;
    let mut at = p + MIN_MATCH;
    while at + 8 <= end {
        let difference = eight(input, at) ^ eight(input, at - (p - q));
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
#[inline(always)]
pub(super) fn extended_back(input: &[u8], p: usize, offset: usize, anchor: usize) -> usize {
    let lowest = anchor.max(offset);
    let mut start = p;
    // No branch for how far: that is hard to foretell.
    if p >= offset + 8 {
        let difference = eight(input, p - 8) ^ eight(input, p - 8 - offset);
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
