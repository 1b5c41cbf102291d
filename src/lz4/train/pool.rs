//! The pool of samples, and the selection of segments from it by a priority queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{GRAM, Pieces};
use crate::Result;
use crate::memory::{copied, extend, with_room, zeros};

/// The number of counters is 2 to the power of one of these. The most need 32 MiB.
const COUNTER_BITS: std::ops::RangeInclusive<u32> = 12..=22;
const HASH_MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;

/// Returns the grams of a piece as little-endian numbers.
fn grams(piece: &[u8]) -> impl Iterator<Item = u64> {
    let number = |gram: &[u8]| {
        gram.iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    piece.windows(GRAM).map(number)
}

/// The number of samples that contain each gram. Grams of equal hash share a counter.
pub(super) struct Counters {
    counters: Vec<Counter>,
    /// Bits of a product that are not in the hash.
    shift: u32,
}

#[derive(Clone, Copy, bytemuck::Zeroable)]
struct Counter {
    n_samples: u32,
    /// While counting, the number of the last sample, from 1 on; in the pool, that of the gram.
    number: u32,
}

impl Counters {
    /// Counts each piece as a sample.
    pub(super) fn of(pieces: &[&[u8]], n_bytes: u64) -> Result<Self> {
        let bits = (n_bytes.ilog2() + 3).clamp(*COUNTER_BITS.start(), *COUNTER_BITS.end());
        let mut counters = Self {
            counters: zeros(1 << bits)?,
            shift: u64::BITS - bits,
        };
        for (piece, number) in pieces.iter().zip(1..) {
            for gram in grams(piece) {
                let counter = counters.of_gram(gram);
                if counter.number != number {
                    counter.n_samples += 1;
                    counter.number = number;
                }
            }
        }
        Ok(counters)
    }

    fn of_gram(&mut self, gram: u64) -> &mut Counter {
        &mut self.counters[(gram.wrapping_mul(HASH_MULTIPLIER) >> self.shift) as usize]
    }
}

/// The pieces from which segments are taken.
pub(super) struct Pool<'a> {
    pub(super) pieces: Pieces<'a>,
    /// The number of each gram, of one piece after the other.
    numbers: Vec<u32>,
    /// The gain of each number. Number 0 stands for all grams without a gain.
    gains: Vec<u32>,
}

/// A segment: its sum of gains when it was last added up, the index of its piece, its first gram in the piece, and that
/// gram in all numbers. The largest sum is the greatest, then the earliest segment.
type Candidate = (u64, Reverse<u32>, Reverse<u32>, u32);

impl<'a> Pool<'a> {
    pub(super) fn new(pieces: Pieces<'a>, mut counters: Counters) -> Result<Self> {
        let n_bytes = pieces.iter().map(|piece| piece.len()).sum();
        let (mut numbers, mut gains) = (with_room(n_bytes)?, with_room(n_bytes + 1)?);
        for counter in &mut counters.counters {
            counter.number = 0;
        }
        gains.push(0);
        for gram in pieces.iter().flat_map(|piece| grams(piece)) {
            let counter = counters.of_gram(gram);
            if counter.n_samples > 1 && counter.number == 0 {
                counter.number = gains.len() as u32;
                gains.push(counter.n_samples - 1);
            }
            numbers.push(counter.number);
        }
        Ok(Self {
            pieces,
            numbers,
            gains,
        })
    }

    /// Begins a selection of segments of at most `segment` bytes in the first `n_pieces`, for a dictionary of `size` bytes.
    pub(super) fn select(
        &self,
        n_pieces: usize,
        segment: usize,
        size: usize,
    ) -> Result<Selection<'_, 'a>> {
        let mut gains = Gains {
            gains: copied(&self.gains)?,
            last_sum: zeros(self.gains.len())?,
            n_sums: 0,
        };
        let segment = segment.min(size.max(GRAM));
        let n_grams = segment - GRAM + 1;
        let candidates = self.candidates(n_pieces, n_grams, segment / 4, &mut gains)?;
        Ok(Selection {
            pool: self,
            n_grams,
            gains,
            candidates,
        })
    }

    /// Returns the segments of `n_grams` grams in the first `n_pieces` that begin at multiples of `step` bytes.
    fn candidates(
        &self,
        n_pieces: usize,
        n_grams: usize,
        step: usize,
        gains: &mut Gains,
    ) -> Result<BinaryHeap<Candidate>> {
        let mut candidates = Vec::new();
        let mut first = 0;
        for (piece, number) in self.pieces.iter().take(n_pieces).zip(0..) {
            let n = piece.len() - GRAM + 1;
            for at in (0..n).step_by(step) {
                let end = (at + n_grams).min(n);
                let sum = gains.sum(&self.numbers[first + at..first + end]);
                let place = (Reverse(number), Reverse(at as u32), (first + at) as u32);
                extend(&mut candidates, &[(sum, place.0, place.1, place.2)])?;
                if end == n {
                    break;
                }
            }
            first += n;
        }
        Ok(candidates.into())
    }
}

/// The segments that are still to be taken, the best first.
pub(super) struct Selection<'p, 'a> {
    pool: &'p Pool<'a>,
    n_grams: usize,
    gains: Gains,
    candidates: BinaryHeap<Candidate>,
}

impl<'a> Selection<'_, 'a> {
    /// Appends the next segments, of at most `room` bytes in all.
    pub(super) fn take(&mut self, mut room: usize, segments: &mut Pieces<'a>) -> Result<()> {
        while room >= GRAM
            && let Some(segment) = self.next(room)
        {
            room -= segment.len();
            extend(segments, &[segment])?;
        }
        Ok(())
    }

    /// Returns the next segment, from its first to its last gram with a gain, and at most `room` bytes of it.
    fn next(&mut self, room: usize) -> Option<&'a [u8]> {
        loop {
            let (known, piece, at, first) = self.candidates.pop()?;
            let bytes = &self.pool.pieces[piece.0 as usize][at.0 as usize..];
            let n_grams = self.n_grams.min(bytes.len() - GRAM + 1);
            let numbers = &self.pool.numbers[first as usize..][..n_grams];
            let again = (self.gains.sum(numbers), piece, at, first);
            if again.0 < known && self.candidates.peek().is_some_and(|next| *next > again) {
                self.candidates.push(again);
                continue;
            }
            let gaining = |number: &u32| self.gains.gains[*number as usize] > 0;
            let begin = numbers.iter().position(gaining)?;
            let end = numbers.iter().rposition(gaining)?;
            for number in &numbers[begin..=end] {
                self.gains.gains[*number as usize] = 0;
            }
            return Some(&bytes[begin..][..(end - begin + GRAM).min(room)]);
        }
    }
}

/// The gains of grams that no segment has yet.
struct Gains {
    gains: Vec<u32>,
    /// The last sum that has each gram, from 1 on.
    last_sum: Vec<u32>,
    n_sums: u32,
}

impl Gains {
    /// Returns the sum of the gains, with each gram once.
    fn sum(&mut self, numbers: &[u32]) -> u64 {
        self.n_sums += 1;
        let mut sum = 0;
        for &number in numbers {
            let last = &mut self.last_sum[number as usize];
            if *last != self.n_sums {
                *last = self.n_sums;
                sum += u64::from(self.gains[number as usize]);
            }
        }
        sum
    }
}
