//! The parse of [`Level::Sequential`](super::Level::Sequential): from position to position, as C lz4 goes.
//!
//! A table has for each hash of a few bytes the last position that was looked at. Where nothing is found for long, ever
//! more positions are left out. The bytes are the same on every machine:
//!
//! `n` is the length of the block, `word(p)` the four bytes at `p`. `T` has 2^b positions, all 0 at the start; `T(p)` is the
//! one at the upper b bits of (the k bytes at `p`, little-endian) * `HASH_MULTIPLIER` mod 2^8k. `k = 6` and `b = 13` if blocks
//! may have more than 16 KiB, else `k = 5` and `b = 12`. Positions count from `base`, which is 0 at the start: lower ones
//! are `base`. `last` is `n - 12`, or `base + 65535` if that is less.
//! - *Look* at `p`: `q = T(p)`; `T(p)` becomes `p`; if `word(q) = word(p)`, the match is `(p, q)`.
//! - *Find* from `p`, with `t = 32`: unless `p <= last`, that ends at `p`. `p' = p + t / 32`, rounded down; if `p' > last`, it
//!   ends at `p`. Look at `p`; if there is no match, `p = p'`, `t = t + 1`, and again.
//! - Find from 1. A match `(p, q)` is as long as the bytes agree, at most to `n - 5`, and goes back as far as they agree,
//!   at most to the end of the match before and to `q = base`. Behind it, at `e`: if `e > last`, that ends at `e`. Else
//!   look at `e`; if there is no match, find from `e + 1`.
//! - Where it ends, at `p`: if `last = n - 12`, all is found. Else `base` becomes `p - 32768`, and find from `p`.

use super::compare::{eight, extended_back, match_length_by_eights, word};
use super::parse::{MATCH_START_MARGIN, Parse};
use super::sequence_writer::SequenceWriter;

/// Positions that find nothing before every second one is left out; after as many of these, two of three are.
const PATIENCE: usize = 1 << 5;
/// 2^40 over the golden ratio.
const HASH_MULTIPLIER: u64 = 0x9e_3779_b97f;
/// Positions before the next one that entries count on from, in blocks of more than they can count.
const KEPT: usize = 1 << 15;

/// Positions by hash. Matches of four bytes are rarely worth their sequence, nor are those of five where there is much to
/// choose from.
#[derive(Debug)]
pub(super) enum Table {
    /// By the hash of five bytes.
    Five(Box<[u16; 1 << 12]>),
    /// By the hash of six.
    Six(Box<[u16; 1 << 13]>),
}

impl Table {
    pub(super) fn new(parse: &Parse) -> Self {
        if parse.page_size() > 16_384 {
            Self::Six(Box::new([0; _]))
        } else {
            Self::Five(Box::new([0; _]))
        }
    }

    /// Writes the block of `input`; returns its length.
    pub(super) fn encode(&mut self, input: &[u8], writer: SequenceWriter<'_>) -> usize {
        match self {
            Self::Five(entries) => encode(Entries::<5, _>(entries), input, writer),
            Self::Six(entries) => encode(Entries::<6, _>(entries), input, writer),
        }
    }
}

#[inline(never)]
fn encode<const BYTES: u32, const N: usize>(
    mut entries: Entries<'_, BYTES, N>,
    mut input: &[u8],
    mut writer: SequenceWriter<'_>,
) -> usize {
    entries.0.fill(0);
    let (mut base, mut from) = (0, 1);
    while let Some(last) = input.len().checked_sub(MATCH_START_MARGIN) {
        let within = last.min(u16::MAX.into());
        // SAFETY: the writer is one for the whole block, `base` bytes before `input`. `within` is followed by the margin.
        // Entries are 0 or positions that were looked at, in ascending order and before `from`; where `base` moves they all
        // move with it, not below 0. `from` is where the last search ended, behind the last match, so at or behind the
        // anchor; it is 1 at least.
        from = unsafe { entries.parse(input, from, within, base, &mut writer) };
        if within == last {
            break;
        }
        let gone = from - KEPT;
        let less = u16::try_from(gone).unwrap_or(u16::MAX);
        entries
            .0
            .iter_mut()
            .for_each(|entry| *entry = entry.saturating_sub(less));
        (input, base, from) = (&input[gone..], base + gone, KEPT);
    }
    writer.finish()
}

/// A position, and an earlier one with the same four bytes.
type Match = (usize, usize);

/// Positions by the hash of so many bytes.
struct Entries<'a, const BYTES: u32, const N: usize>(&'a mut [u16; N]);

impl<const BYTES: u32, const N: usize> Entries<'_, BYTES, N> {
    /// Writes what begins in `input` from position `from` up to `last`; returns where it ended. `base` bytes are before.
    ///
    /// # Safety
    /// `writer` is one for `base` bytes and `input` after them, and its anchor is not behind `base + from`;
    /// `last + MATCH_START_MARGIN <= input.len()`; all entries are less than `from`.
    #[inline(always)]
    unsafe fn parse(
        &mut self,
        input: &[u8],
        mut from: usize,
        last: usize,
        base: usize,
        writer: &mut SequenceWriter<'_>,
    ) -> usize {
        loop {
            // SAFETY: `last` and the entries are as this function's contract says, or as the end of this loop leaves them.
            let (p, q) = match unsafe { self.find(input, from, last) } {
                Ok(found) => found,
                Err(end) => return end,
            };
            let anchor = writer.anchor().saturating_sub(base);
            // SAFETY: `q < p <= last`, as `find` says, and the anchor is not behind `from`, nor that behind `p`. A match is of
            // four bytes at least and ends in `input`.
            let mut end = unsafe {
                let start = extended_back(input, p, p - q, anchor);
                let end = p + match_length_by_eights(input, p, q);
                writer.sequence(base + start, p - q, base + end);
                end
            };
            loop {
                if end > last {
                    return end;
                }
                // SAFETY: `end` is not behind `last`, and behind all positions that were looked at.
                let Some(q) = (unsafe { self.look(input, end, Self::hash(input, end)) }) else {
                    break;
                };
                let offset = end - q;
                // SAFETY: `q < end <= last`, as `look` says; the anchor is where this match starts.
                unsafe {
                    end += match_length_by_eights(input, end, q);
                    writer.match_only(offset, base + end);
                }
            }
            from = end + 1;
        }
    }

    /// The first match from position `from` on, up to `last`, whose earlier position is less; else where the search ended.
    /// Positions that were looked at are less than that, and not behind those of the match.
    ///
    /// # Safety
    /// `last + MATCH_START_MARGIN <= input.len()`; all entries are less than `from`.
    #[inline(always)]
    unsafe fn find(&mut self, input: &[u8], from: usize, last: usize) -> Result<Match, usize> {
        if from > last {
            return Err(from);
        }
        // SAFETY: `from` is not behind `last`.
        let (mut next, mut next_hash) = (from, unsafe { Self::hash(input, from) });
        let mut tried = PATIENCE;
        loop {
            let (p, hash) = (next, next_hash);
            next += tried / PATIENCE;
            tried += 1;
            if next > last {
                return Err(p);
            }
            // Computed early, since it takes a while. SAFETY: `next` is not behind `last`.
            next_hash = unsafe { Self::hash(input, next) };
            // SAFETY: nor is `p`; entries are less than `from`, or positions looked at before it.
            if let Some(q) = unsafe { self.look(input, p, hash) } {
                return Ok((p, q));
            }
        }
    }

    /// An earlier position of the word at `p`, if the entry of its hash is one.
    ///
    /// # Safety
    /// `p + 4 <= input.len()`; all entries are less than `p`.
    #[inline(always)]
    unsafe fn look(&mut self, input: &[u8], p: usize, hash: usize) -> Option<usize> {
        let q = std::mem::replace(&mut self.0[hash], p as u16).into();
        debug_assert!(q < p);
        // SAFETY: the word at `p` is in `input` by this function's contract, and that at an entry lies before it.
        (unsafe { word(input, q) == word(input, p) }).then_some(q)
    }

    /// # Safety
    /// `p + 8 <= input.len()`.
    #[inline(always)]
    unsafe fn hash(input: &[u8], p: usize) -> usize {
        // SAFETY: eight bytes follow `p` by this function's contract.
        let bytes = unsafe { eight(input, p) } << (64 - 8 * BYTES);
        (bytes.wrapping_mul(HASH_MULTIPLIER) >> (64 - N.ilog2())) as usize
    }
}
