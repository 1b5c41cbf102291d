//! The parse of [`Level::Sequential`](super::Level::Sequential): from position to position, as C lz4 goes.
//!
//! A table has for each hash of five bytes the last position that was looked at. Where nothing is found for long, ever
//! more positions are left out. The bytes are the same on every machine:
//!
//! `n` is the length of the block, `last = n - 12`, `word(p)` the four bytes at `p`. `T` has 2^12 positions, all 0 at the
//! start; `T(p)` is the one at the upper 12 bits of (the five bytes at `p`, little-endian) * `HASH_MULTIPLIER` mod 2^40.
//! - `q` *agrees* with `p` if `word(q) = word(p)` and `p - q <= 65535`.
//! - *Find* from `p`, with `k = 32`: unless `p <= last`, there is nothing. `p' = p + k / 32`, rounded down; if
//!   `p' > last`, there is nothing. `q = T(p)`; `T(p)` becomes `p`; if `q` agrees with `p`, the match is `(p, q)`. Else
//!   `p = p'`, `k = k + 1`, and again.
//! - Find from 1. A match `(p, q)` is as long as the bytes agree, at most to `n - 5`, and goes back as far as they agree,
//!   at most to the end of the match before and to `q = 0`. Behind it, at `e`: if `e > last`, all is found. `T(e - 2)`
//!   becomes `e - 2`; `q = T(e)`; `T(e)` becomes `e`; if `q` agrees with `e`, the next match is `(e, q)`, else find from
//!   `e + 1`.

use super::compare::{eight, extended_back, match_length_by_eights, word};
use super::instructions::IS_SMALL;
use super::parse::{MATCH_START_MARGIN, Parse};
use super::write::Writer;

/// Base-2 logarithm of the entries of a table.
const TABLE_BITS: u32 = 12;
/// Positions that find nothing before every second one is left out; after as many of these, two of three are.
const PATIENCE: usize = 1 << 5;
/// 2^40 over the golden ratio.
const HASH_MULTIPLIER: u64 = 0x9e_3779_b97f;
/// How far back a match may lie.
const MAX_OFFSET: usize = 65_535;

/// Positions by hash; at the start of a block all are 0, which is a position like others.
#[derive(Debug)]
pub(super) enum Table {
    /// Of blocks of at most 64 KiB.
    Page(Box<[u16; 1 << TABLE_BITS]>),
    /// Of larger ones.
    Large(Box<[u32; 1 << TABLE_BITS]>),
}

impl Table {
    pub(super) fn new(parse: &Parse) -> Self {
        if IS_SMALL || parse.is_large() {
            Self::Large(Box::new([0; _]))
        } else {
            Self::Page(Box::new([0; _]))
        }
    }

    /// Writes the block of `input`; returns its length.
    pub(super) fn encode(&mut self, input: &[u8], writer: Writer<'_>) -> usize {
        let Some(last) = input.len().checked_sub(MATCH_START_MARGIN) else {
            return writer.finish();
        };
        match self {
            Self::Page(positions) => parse(positions, input, last, writer),
            Self::Large(positions) => parse(positions, input, last, writer),
        }
    }
}

/// A position in a table.
trait Position: Copy + Default {
    /// Whether positions can be farther apart than a match may reach.
    const IS_LARGE: bool;
    fn new(position: usize) -> Self;
    fn get(self) -> usize;
}

impl Position for u16 {
    const IS_LARGE: bool = false;

    #[inline(always)]
    fn new(position: usize) -> Self {
        position as Self
    }

    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
}

impl Position for u32 {
    const IS_LARGE: bool = true;

    #[inline(always)]
    fn new(position: usize) -> Self {
        position as Self
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

type Positions<P> = [P; 1 << TABLE_BITS];

/// A position, and an earlier one with the same four bytes.
type Found = (usize, usize);

/// Positions up to `last` may begin a match.
#[inline(always)]
fn parse<P: Position>(
    positions: &mut Positions<P>,
    input: &[u8],
    last: usize,
    mut writer: Writer<'_>,
) -> usize {
    positions.fill(P::default());
    let mut found = find(positions, input, 1, last);
    while let Some((p, q)) = found {
        let start = extended_back(input, p, p - q, writer.anchor());
        let end = writer.sequence(start, p - q, p + match_length_by_eights(input, p, q));
        if end > last {
            break;
        }
        positions[hash(eight(input, end - 2))] = P::new(end - 2);
        let before = replace(positions, hash(eight(input, end)), end);
        found = if agrees::<P>(input, end, before) {
            Some((end, before))
        } else {
            find(positions, input, end + 1, last)
        };
    }
    writer.finish()
}

/// The first match found from position `from` on.
#[inline(always)]
fn find<P: Position>(
    positions: &mut Positions<P>,
    input: &[u8],
    from: usize,
    last: usize,
) -> Option<Found> {
    if from > last {
        return None;
    }
    let (mut next, mut next_hash) = (from, hash(eight(input, from)));
    let mut tried = PATIENCE;
    loop {
        let (p, p_hash) = (next, next_hash);
        next += tried / PATIENCE;
        tried += 1;
        if next > last {
            return None;
        }
        // Asked for early, since it takes a while.
        next_hash = hash(eight(input, next));
        let before = replace(positions, p_hash, p);
        if agrees::<P>(input, p, before) {
            return Some((p, before));
        }
    }
}

/// Puts `p` in place of the position of its hash.
#[inline(always)]
fn replace<P: Position>(positions: &mut Positions<P>, hash: usize, p: usize) -> usize {
    std::mem::replace(&mut positions[hash], P::new(p)).get()
}

/// Whether a match may begin at `p` with the bytes at `q`.
#[inline(always)]
fn agrees<P: Position>(input: &[u8], p: usize, q: usize) -> bool {
    word(input, q) == word(input, p) && (!P::IS_LARGE || p - q <= MAX_OFFSET)
}

/// The hash of the first five bytes: matches of four are rarely worth their sequence.
#[inline(always)]
fn hash(eight: u64) -> usize {
    ((eight << 24).wrapping_mul(HASH_MULTIPLIER) >> (64 - TABLE_BITS)) as usize
}
