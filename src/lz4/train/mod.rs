//! Dictionaries from samples.
//!
//! The method is that of COVER, as published for zstd. A *gram* is 8 bytes in a row; its gain is the number of samples that
//! contain it, less one, since each sample has its own content anyway. A dictionary consists of segments of samples with
//! large sums of gains. A gram counts once: after a segment is taken, its grams gain nothing. Four things are different here:
//!
//! - COVER divides the samples into epochs and takes the best segment of each. Here the best segment of all is taken, by a
//!   priority queue: gains only fall, so a segment whose sum is still the largest when it is added up again is the best one.
//! - Segments come from a *pool* of samples, spread evenly over all; gains count all samples. A segment that is worth taking is in
//!   many samples, so it is in the pool, too. The work for all but the gains does not grow with the samples.
//! - The length of segments is the one of [`SEGMENTS`] with whose dictionary a few samples outside the pool become shortest. At
//!   the end, these samples join the pool.
//! - Gains are estimates: parts of a segment are never matched, or matches elsewhere are preferred to them. So other samples, the *judges*, are
//!   compressed with the dictionary, the parts that save least give way to the next segments, and that is repeated ([`ROUNDS`]). Of
//!   these dictionaries, the one is returned with which a quarter of the judges, which have no part in the choice of segments, become shortest.
//!
//! The best segments are at the end of the dictionary: matches reach the end for longest, and encoders prefer later positions.

mod pool;
mod usage;

use pool::{Counters, Pool, Selection};
use usage::Judges;

use super::{Dictionary, Encoder, Level, MAX_PAGE_SIZE, Parse};
use crate::memory::{extend, reserve, with_room};
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
/// Number of times that a part of a dictionary is replaced: a quarter at first, then three fifths of the part before.
const ROUNDS: usize = 6;

/// Samples, or parts of them of at most [`MAX_PAGE_SIZE`] bytes, with at least one gram. A match reaches no farther.
type Pieces<'a> = Vec<&'a [u8]>;

/// Trains a dictionary of `size` bytes, 1 to 65,536, for blocks that resemble these samples; if the samples have fewer bytes, it
/// has all of them. A sample is what becomes one block: a page, a record, a message. Of a longer sample, parts of 65,536 bytes
/// count as samples.
///
/// Samples of a hundred times the size are enough. The result depends on nothing but the arguments. One thread does the work, at
/// some MB/s, in at most 64 MB of memory, and 64 bytes for each sample.
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
    let (mut pooled, others) = spread(&others, POOL_BYTES)?;
    let n_untried = pooled.len();
    extend(&mut pooled, &tried)?;
    let pool = Pool::new(pooled, Counters::of(&pieces, n_bytes)?)?;
    let length = best_length(&pool, n_untried, &tried, samples, size)?;
    let mut selection = pool.select(pool.pieces.len(), length, size)?;
    let mut segments = Vec::new();
    selection.take(size, &mut segments)?;
    match Judges::new(&others, size)? {
        Some(judges) => improved(&judges, selection, segments, samples, size),
        None => dictionary(&segments, samples, size),
    }
}

/// Returns the length of segments with whose dictionary `tried`, which are not among the first `n_pieces`, become shortest.
fn best_length(
    pool: &Pool<'_>,
    n_pieces: usize,
    tried: &[&[u8]],
    samples: &[&[u8]],
    size: usize,
) -> Result<usize> {
    let (mut least, mut best) = (u64::MAX, 0);
    for length in SEGMENTS {
        let mut segments = Vec::new();
        pool.select(n_pieces, length, size)?
            .take(size, &mut segments)?;
        let n_bytes = packed_bytes(dictionary(&segments, samples, size)?, tried)?;
        if n_bytes < least {
            (least, best) = (n_bytes, length);
        }
    }
    Ok(best)
}

/// Returns the best dictionary of these segments and of those that follow as parts of it are replaced.
fn improved<'a>(
    judges: &Judges<'_>,
    mut selection: Selection<'_, 'a>,
    mut segments: Pieces<'a>,
    samples: &[&[u8]],
    size: usize,
) -> Result<Dictionary> {
    let mut best = dictionary(&segments, samples, size)?;
    let mut usage = judges.usage(&best)?;
    let (mut least, mut replaced) = (usage.n_bytes, size / 4);
    for _ in 0..ROUNDS {
        segments = usage.best_runs(&segments, size - replaced)?;
        selection.take(size - bytes_of(&segments), &mut segments)?;
        let next = dictionary(&segments, samples, size)?;
        usage = judges.usage(&next)?;
        if usage.n_bytes < least {
            (least, best) = (usage.n_bytes, next);
        }
        replaced = replaced * 3 / 5;
    }
    Ok(best)
}

/// Returns the dictionary of `segments`, the first at its end.
fn dictionary(segments: &[&[u8]], samples: &[&[u8]], size: usize) -> Result<Dictionary> {
    // Without gains left, the beginning of the samples is as good as any other part.
    let mut bytes = joined(samples, size - bytes_of(segments))?;
    for segment in segments.iter().rev() {
        extend(&mut bytes, segment)?;
    }
    Ok(Dictionary::new(&bytes))
}

fn bytes_of(pieces: &[&[u8]]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
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

/// Returns the bytes of the blocks of `pieces` with this dictionary.
fn packed_bytes(dictionary: Dictionary, pieces: &[&[u8]]) -> Result<u64> {
    let parse = Parse::new(MAX_PAGE_SIZE, Level::Sequential)?;
    let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary));
    let block = |piece: &&[u8]| encoder.encode(piece).len() as u64;
    Ok(pieces.iter().map(block).sum())
}
