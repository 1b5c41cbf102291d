//! The use that samples outside the pool make of a dictionary.

use super::{Pieces, bytes_of, spread};
use crate::Result;
use crate::lz4::parse::{MIN_MATCH, MIN_PAGE_SIZE, TOKEN_MAX};
use crate::lz4::{Dictionary, Encoder, Level, Parse};
use crate::memory::{extend, zeros};

/// Most bytes of judges.
const JUDGE_BYTES: u64 = 4 << 20;
/// Fewest bytes of judges for each byte of a dictionary.
const LEAST_BYTES: usize = 8;
/// Every fourth judge compares dictionaries; the others give credits.
const COMPARED_PART: usize = 4;
/// Credit of a byte in a match that costs nothing.
const CREDIT: usize = 64;
/// Bytes that a sequence of a match takes.
const SEQUENCE_BYTES: usize = 3;

/// Samples outside the pool, whose blocks show what parts of a dictionary are worth.
pub(super) struct Judges<'a> {
    pieces: Pieces<'a>,
    parse: Parse,
}

/// The length of the judges with a dictionary, and the credit of its bytes.
pub(super) struct Usage {
    /// Bytes of the blocks that compare dictionaries.
    pub n_bytes: u64,
    /// The credit of each byte of the dictionary: what matches that cover it save, spread evenly over their bytes.
    credits: Vec<u32>,
    /// Bytes with no more credit are not kept.
    floor: u32,
}

impl<'a> Judges<'a> {
    /// Takes judges evenly from `pieces`; `None` if these are too few for a dictionary of `size` bytes.
    pub(super) fn new(pieces: &[&'a [u8]], size: usize) -> Result<Option<Self>> {
        let (pieces, _) = spread(pieces, JUDGE_BYTES)?;
        if bytes_of(&pieces) < LEAST_BYTES * size {
            return Ok(None);
        }
        let longest = pieces.iter().map(|piece| piece.len() as u32).max();
        let block = longest.unwrap_or(0).max(MIN_PAGE_SIZE);
        let parse = Parse::new(block, Level::High)?;
        Ok(Some(Self { pieces, parse }))
    }

    /// Compresses the judges at level high.
    pub(super) fn usage(&self, dictionary: &Dictionary) -> Result<Usage> {
        let n_dictionary = dictionary.as_bytes().len();
        let mut encoder = Encoder::with_dictionary(&self.parse, Some(dictionary.clone()));
        let mut credits: Vec<u32> = zeros(n_dictionary)?;
        let (mut n_bytes, mut n_credited) = (0, 0);
        for (i, piece) in self.pieces.iter().enumerate() {
            let block = encoder.encode(piece);
            if i % COMPARED_PART == 0 {
                n_bytes += block.len() as u64;
            } else {
                n_credited += piece.len();
                each_match(block, n_dictionary, |length, at| {
                    let credit = CREDIT * (length - SEQUENCE_BYTES) / length;
                    let end = (at + length).min(n_dictionary);
                    for sum in &mut credits[at..end] {
                        *sum += credit as u32;
                    }
                });
            }
        }
        Ok(Usage {
            n_bytes,
            credits,
            floor: (n_credited / n_dictionary) as u32,
        })
    }
}

impl Usage {
    /// Returns runs of bytes of the segments, the first of which is at the end of the dictionary: those with the most credit a byte first, and at most
    /// `n_bytes` in all.
    pub(super) fn best_runs<'a>(
        &self,
        segments: &[&'a [u8]],
        n_bytes: usize,
    ) -> Result<Pieces<'a>> {
        let mut runs = Vec::new();
        let mut end = self.credits.len();
        for segment in segments {
            let start = end - segment.len();
            let mut at = 0;
            for run in
                self.credits[start..end].chunk_by(|a, b| (*a > self.floor) == (*b > self.floor))
            {
                if run[0] > self.floor && run.len() >= MIN_MATCH {
                    let credit: u64 = run.iter().map(|credit| u64::from(*credit)).sum();
                    extend(
                        &mut runs,
                        &[(credit / run.len() as u64, &segment[at..][..run.len()])],
                    )?;
                }
                at += run.len();
            }
            end = start;
        }
        runs.sort_by_key(|(credit, _)| std::cmp::Reverse(*credit));
        let (mut best, mut room) = (Vec::new(), n_bytes);
        for (_, run) in runs {
            if run.len() > room {
                break;
            }
            room -= run.len();
            extend(&mut best, &[run])?;
        }
        Ok(best)
    }
}

/// Calls `found` with the length of each match of a block that begins in the dictionary, and with its first byte there. `None` at the
/// end of the block.
fn each_match(
    block: &[u8],
    n_dictionary: usize,
    mut found: impl FnMut(usize, usize),
) -> Option<()> {
    let (mut rest, mut position) = (block, 0);
    loop {
        let (&token, after) = rest.split_first()?;
        rest = after;
        let n_literals = length(usize::from(token) >> 4, &mut rest)?;
        rest = rest.get(n_literals..)?;
        position += n_literals;
        let (&offset, after) = rest.split_first_chunk()?;
        rest = after;
        let n = MIN_MATCH + length(usize::from(token) & TOKEN_MAX, &mut rest)?;
        let offset = usize::from(u16::from_le_bytes(offset));
        if offset > position {
            found(n, (n_dictionary + position).checked_sub(offset)?);
        }
        position += n;
    }
}

/// Returns a length that begins in a token, and takes the bytes that extend it.
fn length(of_token: usize, rest: &mut &[u8]) -> Option<usize> {
    let mut sum = of_token;
    if of_token == TOKEN_MAX {
        loop {
            let (&more, after) = rest.split_first()?;
            *rest = after;
            sum += usize::from(more);
            if more != u8::MAX {
                break;
            }
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn matches_in_the_dictionary_are_found() {
        // 20 literals; 4 bytes from byte 90 of the dictionary; 300 from its byte 70; 2 literals, 19 bytes from the block; 5 literals.
        let mut block = vec![0xf0, 5];
        block.extend([b'x'; 20]);
        block.extend([
            30, 0, 0x0f, 54, 0, 255, 26, 0x2f, b'y', b'z', 10, 0, 0, 0x50,
        ]);
        block.extend([b'e'; 5]);
        let mut found = Vec::new();
        assert_eq!(each_match(&block, 100, |n, at| found.push((n, at))), None);
        assert_eq!(found, [(4, 90), (300, 70)]);
        // Blocks that end in the middle of a sequence end there.
        for end in 0..block.len() {
            let mut n = 0;
            assert_eq!(each_match(&block[..end], 100, |_, _| n += 1), None);
            assert!(n <= 2);
        }
    }

    #[test]
    fn runs_with_the_most_credit_are_kept() {
        let (first, last) = (&b"abcdefgh"[..], &b"ABCDEFGHIJKL"[..]);
        // The dictionary is `last`, then `first`.
        let credits = [
            [9, 9, 9, 9, 2, 2, 0, 0, 5, 5, 5, 0],
            [1, 1, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0],
        ];
        let credits = [&credits[0][..], &credits[1][..8]].concat();
        let usage = Usage {
            n_bytes: 0,
            credits,
            floor: 1,
        };
        // Runs of fewer than four bytes are no match.
        let runs = |n| usage.best_runs(&[first, last], n).unwrap();
        assert_eq!(runs(20), [&b"cdefg"[..], b"ABCDEF"]);
        assert_eq!(runs(10), [b"cdefg"]);
        assert!(runs(4).is_empty());
    }

    #[test]
    fn few_samples_are_no_judges() {
        let page = [7; 4096];
        let pieces = [&page[..]; 16];
        assert!(Judges::new(&pieces, 8192).unwrap().is_some());
        assert!(Judges::new(&pieces, 8193).unwrap().is_none());
        assert!(Judges::new(&[], 1).unwrap().is_none());
    }
}
