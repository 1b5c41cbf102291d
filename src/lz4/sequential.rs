//! The parse of [`Level::Sequential`](super::Level::Sequential): the classic greedy LZ4 parse, position by position.
//!
//! A hash table maps a few bytes to the last position that was probed with them. After many probes without a match the
//! step grows, as in C lz4. The bytes are the same on every machine. The definition:
//!
//! `n` is the length of the block, `word(p)` the four bytes at `p`. `T` has 2^b positions, all 0 at the start; `T(p)`
//! is the entry at the upper b bits of (the k bytes at `p`, little-endian) * `HASH_MULTIPLIER` mod 2^8k. If blocks may
//! have more than 16 KiB, `k = 6` and `b = 13`, else `k = 5` and `b = 12`. Positions are relative to `base`, which is 0
//! at the start; an entry below `base` counts as `base`. `last` is the smaller of `n - 12` and `base + 65535`.
//! - *Probe* `p`: `q = T(p)`; `T(p)` becomes `p`; if `word(q) = word(p)`, the match is `(p, q)`.
//! - *Find* from `p`, with `t = 32`: if `p > last`, stop at `p`. `p' = p + t / 32`, rounded down; if `p' > last`, stop
//!   at `p`. Probe `p`; if there is no match, set `p = p'`, `t = t + 1`, and repeat.
//! - Start with find from 1. A match `(p, q)` extends forward over equal bytes, at most to `n - 5`, and backward over
//!   equal bytes, at most to the end of the previous match and to `q = base`. Let `e` be its end: if `e > last`, stop
//!   at `e`. Else probe `e`; if there is no match, find from `e + 1`.
//! - After a stop at `p`: if `last = n - 12`, the parse is complete. Else `base` becomes `p - 32768`; find from `p`.
//!
//! With a dictionary of `D` bytes, as the head of [`super`] describes it: a second table has for each value of the upper 15 bits of
//! the same product the last position `q` of the dictionary with `q + 8 <= D`, if there is one. If a probe of `p` gives no match,
//! and `p + D - q <= 65535`, and the k bytes at `q` and at `p` are equal, that is the match. It extends forward at most to the
//! end of the dictionary, and backward at most to its start.

use super::compare::{eight, extended_back, match_length_by_eights, word};
use super::dictionary::{Dictionary, Latest, Padded, common_length, n_equal};
use super::parse::{LAST_LITERALS, MATCH_START_MARGIN, Parse};
use super::sequence_writer::SequenceWriter;

/// Probes without a match before the step becomes 2; after as many more it becomes 3, and so on.
const PATIENCE: usize = 1 << 5;
/// 2^40 divided by the golden ratio.
const HASH_MULTIPLIER: u64 = 0x9e_3779_b97f;
/// Positions before the current one that stay in reach when `base` moves, in blocks that exceed the 16-bit entries.
const KEPT: usize = 1 << 15;

/// The hash table of positions. A match of four bytes rarely pays for its sequence, nor does one of five where there
/// are many candidates.
#[derive(Debug)]
pub(super) struct Table {
    entries: Boxed,
    dictionary: Option<Dictionary>,
    /// False as long as all entries are 0.
    is_used: bool,
}

#[derive(Debug)]
enum Boxed {
    /// Indexed by the hash of five bytes.
    Five(Box<[u16; 1 << 12]>),
    /// Indexed by the hash of six bytes.
    Six(Box<[u16; 1 << 13]>),
}

impl Boxed {
    fn clear(&mut self) {
        let entries: &mut [u16] = match self {
            Self::Five(entries) => &mut **entries,
            Self::Six(entries) => &mut **entries,
        };
        entries.fill(0);
    }
}

impl Table {
    pub(super) fn new(parse: &Parse, dictionary: Option<Dictionary>) -> Self {
        let entries = if parse.page_size() > 16_384 {
            Boxed::Six(Box::new([0; _]))
        } else {
            Boxed::Five(Box::new([0; _]))
        };
        Self {
            entries,
            dictionary,
            is_used: false,
        }
    }

    /// Writes the block of `input`; returns its length.
    pub(super) fn encode(&mut self, input: &[u8], writer: SequenceWriter<'_>) -> usize {
        if std::mem::replace(&mut self.is_used, true) {
            self.entries.clear();
        }
        let dictionary = self.dictionary.as_ref();
        match &mut self.entries {
            Boxed::Five(entries) => encode::<5, _>(entries, dictionary, input, writer),
            Boxed::Six(entries) => encode::<6, _>(entries, dictionary, input, writer),
        }
    }
}

fn encode<const BYTES: u32, const N: usize>(
    entries: &mut [u16; N],
    dictionary: Option<&Dictionary>,
    input: &[u8],
    writer: SequenceWriter<'_>,
) -> usize {
    let mut entries = Entries::<BYTES, N> {
        entries,
        dictionary: None,
    };
    let Some(dictionary) = dictionary else {
        return encode_alone(entries, input, writer);
    };
    // SAFETY: eight bytes of the dictionary follow each position that it indexes.
    let hash = |bytes: &[u8], p| unsafe { Entries::<BYTES, N>::hash(bytes, p) };
    entries.dictionary = Some(Indexed {
        index: dictionary.sequential(BYTES, hash),
        bytes: dictionary.bytes(),
    });
    encode_with_dictionary(entries, input, writer)
}

#[inline(never)]
fn encode_alone<const BYTES: u32, const N: usize>(
    mut entries: Entries<'_, BYTES, N>,
    input: &[u8],
    writer: SequenceWriter<'_>,
) -> usize {
    entries.dictionary = None;
    entries.encode(input, writer)
}

#[inline(never)]
fn encode_with_dictionary<const BYTES: u32, const N: usize>(
    entries: Entries<'_, BYTES, N>,
    input: &[u8],
    writer: SequenceWriter<'_>,
) -> usize {
    entries.encode(input, writer)
}

/// A dictionary with the index of the hash in use.
#[derive(Clone, Copy)]
struct Indexed<'a> {
    index: &'a Latest,
    bytes: Padded<'a>,
}

/// The source of a match: a position in the block or in the dictionary.
#[derive(Clone, Copy)]
enum Source {
    Block(usize),
    Dictionary(usize),
}

/// Positions, indexed by the hash of `BYTES` bytes.
struct Entries<'a, const BYTES: u32, const N: usize> {
    entries: &'a mut [u16; N],
    /// A constant in each specialised copy of the parse, but for its content.
    dictionary: Option<Indexed<'a>>,
}

impl<const BYTES: u32, const N: usize> Entries<'_, BYTES, N> {
    /// Writes the block of `input`; returns its length.
    #[inline(always)]
    fn encode(mut self, mut input: &[u8], mut writer: SequenceWriter<'_>) -> usize {
        let (mut base, mut from) = (0, 1);
        while let Some(last) = input.len().checked_sub(MATCH_START_MARGIN) {
            let within = last.min(u16::MAX.into());
            // SAFETY: the writer covers the whole block, `base` bytes before `input`. `within` is followed by the margin.
            // Entries are 0 or positions that were probed, in ascending order and before `from`; when `base` moves, all
            // entries move with it, not below 0. `from` is the stop of the previous call, after the last match, so at or
            // after the anchor; it is at least 1.
            from = unsafe { self.parse(input, from, within, base, &mut writer) };
            if within == last {
                break;
            }
            let gone = from - KEPT;
            let less = u16::try_from(gone).unwrap_or(u16::MAX);
            self.entries
                .iter_mut()
                .for_each(|entry| *entry = entry.saturating_sub(less));
            (input, base, from) = (&input[gone..], base + gone, KEPT);
        }
        writer.finish()
    }

    /// Writes the sequences of `input` from position `from` up to `last`; returns where it stopped. `base` bytes
    /// precede `input`.
    ///
    /// # Safety
    /// `writer` covers `base` bytes and `input` after them, and its anchor is at or before `base + from`; `last +
    /// MATCH_START_MARGIN <= input.len()`; all entries are less than `from`.
    #[inline(always)]
    unsafe fn parse(
        &mut self,
        input: &[u8],
        mut from: usize,
        last: usize,
        base: usize,
        writer: &mut SequenceWriter<'_>,
    ) -> usize {
        // Largest offset from a position of `input` to the dictionary, were there no bytes between them.
        let reach = usize::from(u16::MAX).saturating_sub(base);
        loop {
            // SAFETY: `last` and the entries are as this function's contract requires, or as the end of this loop
            // leaves them.
            let (p, source) = match unsafe { self.find(input, from, last, reach) } {
                Ok(found) => found,
                Err(end) => return end,
            };
            let anchor = writer.anchor().saturating_sub(base);
            // SAFETY: `p <= last` and the source is one of `find`; the anchor is at or before `from`, and that at or before
            // `p`. A match has at least four bytes and ends inside `input`.
            let mut end = unsafe {
                let (start, offset, end) = match source {
                    Source::Block(q) => {
                        let start = extended_back(input, p, p - q, anchor);
                        (start, p - q, p + match_length_by_eights(input, p, q))
                    }
                    Source::Dictionary(q) => self.extended(input, p, q, anchor, base),
                };
                writer.sequence(base + start, offset, base + end);
                end
            };
            loop {
                if end > last {
                    return end;
                }
                // SAFETY: `end` is at most `last`, and after all positions that were probed.
                let hash = unsafe { Self::hash(input, end) };
                // SAFETY: as above.
                let Some(source) = (unsafe { self.probe(input, end, hash, reach) }) else {
                    break;
                };
                // SAFETY: the source is one of `probe`; the anchor is the start of this match.
                unsafe {
                    let offset;
                    (offset, end) = match source {
                        Source::Block(q) => (end - q, end + match_length_by_eights(input, end, q)),
                        Source::Dictionary(q) => {
                            let (_, offset, end) = self.extended(input, end, q, end, base);
                            (offset, end)
                        }
                    };
                    writer.match_only(offset, base + end);
                }
            }
            from = end + 1;
        }
    }

    /// Returns the start, offset and end of the match at `p` with position `q` of the dictionary after extending it: backward at
    /// most to `anchor`.
    ///
    /// # Safety
    /// [`probe`](Self::probe) returned `q` for `p`; `anchor <= p`.
    #[inline(always)]
    unsafe fn extended(
        &self,
        input: &[u8],
        p: usize,
        q: usize,
        anchor: usize,
        base: usize,
    ) -> (usize, usize, usize) {
        let bytes = self.dictionary.map_or(Padded::NONE, |own| own.bytes);
        let most = input.len() - LAST_LITERALS - p;
        let most = most.min(bytes.len() - q);
        // SAFETY: the match ends inside `input` and the dictionary.
        let length = unsafe { common_length(input, p, bytes.padded(), q, 0, most) };
        let (before, there) = (&input[anchor..p], &bytes.padded()[..q]);
        let pairs = before.iter().rev().zip(there.iter().rev());
        let n_before = pairs.take_while(|(a, b)| a == b).count();
        (p - n_before, base + p + bytes.len() - q, p + length)
    }

    /// Returns the first match from position `from` on, up to `last`, with its source; else where the search
    /// stopped. All probed positions are less than that stop, and at or before the match.
    ///
    /// # Safety
    /// `last + MATCH_START_MARGIN <= input.len()`; all entries are less than `from`.
    #[inline(always)]
    unsafe fn find(
        &mut self,
        input: &[u8],
        from: usize,
        last: usize,
        reach: usize,
    ) -> Result<(usize, Source), usize> {
        if from > last {
            return Err(from);
        }
        // SAFETY: `from` is at most `last`.
        let (mut next, mut next_hash) = (from, unsafe { Self::hash(input, from) });
        let mut tried = PATIENCE;
        loop {
            let (p, hash) = (next, next_hash);
            next += tried / PATIENCE;
            tried += 1;
            if next > last {
                return Err(p);
            }
            // Computed early, to hide the latency of the multiplication. SAFETY: `next` is at most `last`.
            next_hash = unsafe { Self::hash(input, next) };
            // SAFETY: so is `p`; entries are less than `from`, or positions that were probed before `p`.
            if let Some(source) = unsafe { self.probe(input, p, hash, reach) } {
                return Ok((p, source));
            }
        }
    }

    /// Probes `p`: returns an earlier position with the same word, if the hash table's entry is one, else a position of the
    /// dictionary with the same bytes, if the index has one and it is at most `reach` bytes back.
    ///
    /// # Safety
    /// `p + 8 <= input.len()`; all entries are less than `p`.
    #[inline(always)]
    unsafe fn probe(&mut self, input: &[u8], p: usize, hash: u32, reach: usize) -> Option<Source> {
        let bucket = (hash >> (32 - N.ilog2())) as usize;
        let q = std::mem::replace(&mut self.entries[bucket], p as u16).into();
        debug_assert!(q < p);
        // SAFETY: the word at `p` is inside `input` by this function's contract; an entry is less than `p`.
        if unsafe { word(input, q) == word(input, p) } {
            return Some(Source::Block(q));
        }
        let Indexed { index, bytes } = self.dictionary?;
        let q = index.position(hash)?;
        // SAFETY: eight bytes follow `p` by this function's contract, and `q` as a position of an index.
        let n_equal = n_equal(unsafe { eight(input, p) ^ eight(bytes.padded(), q) });
        let is_match = n_equal >= BYTES as usize && p + bytes.len() - q <= reach;
        is_match.then_some(Source::Dictionary(q))
    }

    /// Returns the upper 32 bits of the product.
    ///
    /// # Safety
    /// `p + 8 <= input.len()`.
    #[inline(always)]
    unsafe fn hash(input: &[u8], p: usize) -> u32 {
        // SAFETY: eight bytes follow `p` by this function's contract.
        let bytes = unsafe { eight(input, p) } << (64 - 8 * BYTES);
        (bytes.wrapping_mul(HASH_MULTIPLIER) >> 32) as u32
    }
}
