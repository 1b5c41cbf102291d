//! Dictionaries from samples.
//!
//! The method is that of COVER, as published for zstd. A *gram* is 8 bytes in a row; its gain is the number of samples that
//! contain it, less one, since each sample has its own content anyway. A dictionary consists of segments of samples with
//! large sums of gains. A gram counts once: after a segment is taken, its grams gain nothing. Three things are different here:
//!
//! - COVER divides the samples into epochs and takes the best segment of each. Here the best segment of all is taken, by a
//!   priority queue: gains only fall, so a segment whose sum is still the largest when it is added up again is the best one.
//! - Segments come from a *pool* of samples, spread evenly over all; gains count all samples. A segment that is worth taking is in
//!   many samples, so it is in the pool, too. The work for all but the gains does not grow with the samples.
//! - The length of segments is the one of [`SEGMENTS`] with whose dictionary a few samples outside the pool become shortest. At
//!   the end, these samples join the pool.
//!
//! The best segments are at the end of the dictionary: matches reach the end for longest, and encoders prefer later positions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Dictionary, Encoder, Level, MAX_PAGE_SIZE, Parse};
use crate::memory::{copied, extend, reserve, with_room, zeros};
use crate::{Error, Result};

/// Bytes of a gram.
const GRAM: usize = 8;
/// Lengths of segments that are tried, in bytes. The first is used where there are too few samples for a trial.
const SEGMENTS: [usize; 4] = [512, 128, 64, 2048];
/// Bytes of samples in the pool.
const POOL_BYTES: u64 = 1 << 20;
/// Most bytes of samples on which lengths are tried, and their part of all samples.
const TRIAL_BYTES: u64 = 256 << 10;
const TRIAL_PART: u64 = 16;
/// Most bytes of samples.
const MAX_SAMPLE_BYTES: u64 = 1 << 32;
/// The number of counters is 2 to the power of one of these. The most need 32 MiB.
const COUNTER_BITS: std::ops::RangeInclusive<u32> = 12..=22;
const HASH_MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87;

/// Samples, or parts of them of at most [`MAX_PAGE_SIZE`] bytes, with at least one gram. A match reaches no farther.
type Pieces<'a> = Vec<&'a [u8]>;

/// Trains a dictionary of `size` bytes, 1 to 65,536, for blocks that resemble these samples; if the samples have fewer bytes, it
/// has all of them. A sample is what becomes one block: a page, a record, a message. Of a longer sample, parts of 65,536 bytes
/// count as samples.
///
/// Samples of a hundred times the size are enough. The result depends on nothing but the arguments. One thread does the work, at
/// some ten MB/s, in at most 64 MB of memory, and 48 bytes for each sample.
///
/// ```
/// use pagepress::lz4::{Level, compress_pages, train_dictionary};
///
/// let record = |id: usize| format!(r#"{{"id": {id}, "name": "user {id}", "roles": ["reader"]}}"#);
/// let samples: Vec<String> = (0..1000).map(record).collect();
/// let samples: Vec<&[u8]> = samples.iter().map(|sample| sample.as_bytes()).collect();
/// let dictionary = train_dictionary(&samples, 1024)?;
///
/// let new = record(123_456).into_bytes();
/// let with = dictionary.compress_pages(&new, 4096, Level::High)?;
/// let without = compress_pages(&new, 4096, Level::High)?;
/// assert!(with.packed.len() * 2 < without.packed.len());
/// # Ok::<(), pagepress::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidArgument`] if `size` is out of range, or the samples have no bytes or more than 2^32;
/// [`Error::OutOfMemory`].
pub fn train_dictionary(samples: &[&[u8]], size: usize) -> Result<Dictionary> {
    let n_bytes = checked_bytes(samples, size)?;
    if n_bytes <= size as u64 {
        return Ok(Dictionary::new(&joined(samples, size)?));
    }
    let pieces = cut(samples)?;
    let (tried, others) = spread(&pieces, TRIAL_BYTES.min(n_bytes / TRIAL_PART))?;
    let (mut pooled, _) = spread(&others, POOL_BYTES)?;
    let n_untried = pooled.len();
    extend(&mut pooled, &tried)?;
    let pool = Pool::new(pooled, Counters::of(&pieces, n_bytes)?)?;
    let dictionary = |n_pieces, segment| {
        let segments = pool.best_segments(n_pieces, segment, size)?;
        // Without gains left, the beginning of the samples is as good as any other part.
        let missing = size - segments.iter().map(|segment| segment.len()).sum::<usize>();
        let mut bytes = joined(samples, missing)?;
        for segment in segments.iter().rev() {
            extend(&mut bytes, segment)?;
        }
        Ok::<_, Error>(Dictionary::new(&bytes))
    };
    let (mut least, mut best) = (u64::MAX, 0);
    for segment in SEGMENTS {
        let n_bytes = packed_bytes(dictionary(n_untried, segment)?, &tried)?;
        if n_bytes < least {
            (least, best) = (n_bytes, segment);
        }
    }
    dictionary(pool.pieces.len(), best)
}

/// Returns the bytes of all samples, after checking them and the size.
fn checked_bytes(samples: &[&[u8]], size: usize) -> Result<u64> {
    if size == 0 || size > MAX_PAGE_SIZE as usize {
        let expected = "give 1 to 65536 bytes";
        return Err(Error::invalid("dictionary size", size as u64, expected));
    }
    let n_bytes = samples.iter().map(|sample| sample.len() as u64).sum();
    if n_bytes == 0 || n_bytes > MAX_SAMPLE_BYTES {
        let expected = "give samples of 1 to 4294967296 bytes in all";
        return Err(Error::invalid("bytes of samples", n_bytes, expected));
    }
    Ok(n_bytes)
}

fn cut<'a>(samples: &[&'a [u8]]) -> Result<Pieces<'a>> {
    let mut pieces = with_room(samples.len())?;
    for sample in samples {
        let parts = sample.chunks(MAX_PAGE_SIZE as usize);
        reserve(&mut pieces, parts.len())?;
        pieces.extend(parts.filter(|part| part.len() >= GRAM));
    }
    Ok(pieces)
}

/// Returns the first `n_bytes` of the samples in a row.
fn joined(samples: &[&[u8]], n_bytes: usize) -> Result<Vec<u8>> {
    let mut joined = with_room(n_bytes)?;
    for sample in samples {
        let room = n_bytes - joined.len();
        joined.extend_from_slice(&sample[..sample.len().min(room)]);
    }
    Ok(joined)
}

/// Returns pieces of about `n_bytes`, spread evenly, and the others.
fn spread<'a>(pieces: &[&'a [u8]], n_bytes: u64) -> Result<(Pieces<'a>, Pieces<'a>)> {
    let total: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
    let (mut taken, mut others) = (with_room(pieces.len())?, with_room(pieces.len())?);
    // Bytes to take up to here less those taken, times `total`. A piece changes it by less than 2^16 * 2^32.
    let mut due = 0_i64;
    for piece in pieces {
        let whole = piece.len() as i64 * total as i64;
        due += piece.len() as i64 * n_bytes.min(total) as i64;
        if 2 * due >= whole {
            due -= whole;
            taken.push(*piece);
        } else {
            others.push(*piece);
        }
    }
    Ok((taken, others))
}

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
struct Counters {
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
    fn of(pieces: &[&[u8]], n_bytes: u64) -> Result<Self> {
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
struct Pool<'a> {
    pieces: Pieces<'a>,
    /// The number of each gram, of one piece after the other.
    numbers: Vec<u32>,
    /// The gain of each number. Number 0 stands for all grams without a gain.
    gains: Vec<u32>,
}

/// A segment: its sum of gains when it was last added up, the index of its piece, its first gram in the piece, and that
/// gram in all numbers. The largest sum is the greatest, then the earliest segment.
type Candidate = (u64, Reverse<u32>, Reverse<u32>, u32);

impl<'a> Pool<'a> {
    fn new(pieces: Pieces<'a>, mut counters: Counters) -> Result<Self> {
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

    /// Returns segments of at most `segment` bytes, with at most `size` bytes in all, of the first `n_pieces`; the best first.
    fn best_segments(&self, n_pieces: usize, segment: usize, size: usize) -> Result<Pieces<'a>> {
        let mut gains = Gains {
            gains: copied(&self.gains)?,
            last_sum: zeros(self.gains.len())?,
            n_sums: 0,
        };
        let segment = segment.min(size.max(GRAM));
        let n_grams = segment - GRAM + 1;
        let mut candidates = self.candidates(n_pieces, n_grams, segment / 4, &mut gains)?;
        let mut segments = with_room(size / GRAM)?;
        let mut room = size;
        while room >= GRAM
            && let Some((known, piece, at, first)) = candidates.pop()
        {
            let bytes = &self.pieces[piece.0 as usize][at.0 as usize..];
            let numbers = &self.numbers[first as usize..][..n_grams.min(bytes.len() - GRAM + 1)];
            let again = (gains.sum(numbers), piece, at, first);
            if again.0 < known && candidates.peek().is_some_and(|next| *next > again) {
                candidates.push(again);
                continue;
            }
            let gaining = |number: &u32| gains.gains[*number as usize] > 0;
            let (begin, end) = (
                numbers.iter().position(gaining),
                numbers.iter().rposition(gaining),
            );
            let (Some(begin), Some(end)) = (begin, end) else {
                break;
            };
            let length = (end - begin + GRAM).min(room);
            segments.push(&bytes[begin..][..length]);
            room -= length;
            for number in &numbers[begin..=end] {
                gains.gains[*number as usize] = 0;
            }
        }
        Ok(segments)
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

/// Returns the bytes of the blocks of `pieces` with this dictionary.
fn packed_bytes(dictionary: Dictionary, pieces: &[&[u8]]) -> Result<u64> {
    let parse = Parse::new(MAX_PAGE_SIZE, Level::Sequential)?;
    let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary));
    let block = |piece: &&[u8]| encoder.encode(piece).len() as u64;
    Ok(pieces.iter().map(block).sum())
}
