//! The dictionary of a job: one buffer, with the layout of `shaders/lib/dictionary.wgsl`.

use crate::lz4::Dictionary;
use crate::{Error, Result, memory};

/// Maximum bytes of a dictionary: a match reaches back 65,535 bytes at most.
const MAX_BYTES: u32 = 65_536;
/// Buckets of the indexes of levels Fast and High, each of which takes a word.
const BUCKETS: usize = 1 << 15;
/// A position of the index of level High, which has a word for each, is followed by so many bytes, itself included.
const INDEXED: usize = 8;
/// Words of 0 before the bytes and behind them, which kernels may read and do not use.
const WORDS_BEFORE: usize = 1;
const WORDS_BEHIND: usize = 2;

/// Returns the bytes of the buffer of a dictionary of `n_bytes`; `None` for 0, which stands for no dictionary.
///
/// # Errors
/// [`Error::InvalidArgument`] for more than 65,536 bytes.
pub(super) fn buffer_bytes(n_bytes: u32) -> Result<Option<u64>> {
    if n_bytes > MAX_BYTES {
        let expected = "give at most 65536 bytes";
        return Err(Error::invalid("dictionary bytes", n_bytes.into(), expected));
    }
    Ok((n_bytes > 0).then(|| 4 * buffer_words(n_bytes as usize) as u64))
}

fn buffer_words(n_bytes: usize) -> usize {
    let n_positions = (n_bytes + 1).saturating_sub(INDEXED);
    BUCKETS + WORDS_BEFORE + n_bytes.div_ceil(4) + WORDS_BEHIND + BUCKETS + n_positions
}

/// Returns the bytes of a dictionary; 0 for none.
pub(crate) fn n_bytes(dictionary: Option<&Dictionary>) -> u32 {
    dictionary.map_or(0, |dictionary| dictionary.as_bytes().len() as u32)
}

/// Returns the content of the buffer of a dictionary, which has bytes.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn dictionary_words(dictionary: &Dictionary) -> Result<Vec<u32>> {
    let bytes = dictionary.as_bytes();
    let mut words = memory::with_room(buffer_words(bytes.len()))?;
    words.extend(dictionary.fast_index());
    words.extend([0; WORDS_BEFORE]);
    let (first, rest) = bytes.split_at(bytes.len() % 4);
    if !first.is_empty() {
        words.push(word_of(first) << (32 - 8 * first.len()));
    }
    words.extend(rest.chunks_exact(4).map(word_of));
    words.extend([0; WORDS_BEHIND]);
    words.extend(dictionary.high_index());
    Ok(words)
}

/// Returns the little-endian word of up to four bytes.
fn word_of(bytes: &[u8]) -> u32 {
    let add = |word, &byte| word << 8 | u32::from(byte);
    bytes.iter().rev().fold(0, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_at_a_word_between_the_indexes() {
        for n_bytes in [1, 3, 4, 5, 6, 7, 8, 9, 4096, 65_535, 65_536] {
            let bytes: Vec<u8> = (0..n_bytes).map(|i| (1 + i % 251) as u8).collect();
            let words = dictionary_words(&Dictionary::new(&bytes)).unwrap();
            let n = buffer_bytes(n_bytes).unwrap().unwrap();
            assert_eq!(4 * words.len() as u64, n, "{n_bytes}");
            let (fast, rest) = words.split_at(BUCKETS);
            assert_eq!(fast.iter().any(|&entry| entry != 0), n_bytes >= 8);
            let n_positions = (n_bytes as usize + 1).saturating_sub(INDEXED);
            let (rest, high) = rest.split_at(rest.len() - BUCKETS - n_positions);
            let (buckets, slots) = high.split_at(BUCKETS);
            assert_eq!(
                buckets.iter().map(|bucket| bucket & 0xffff).max(),
                Some(n_positions as u32)
            );
            let mut positions: Vec<u32> = slots.iter().map(|slot| slot & 0xffff).collect();
            positions.sort_unstable();
            assert!(positions.into_iter().eq(0..n_positions as u32), "{n_bytes}");
            let laid: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
            let end = laid.len() - 4 * WORDS_BEHIND;
            assert!(laid[..end].ends_with(&bytes), "{n_bytes}");
            let around = [&laid[..end - bytes.len()], &laid[end..]].concat();
            assert!(around.len() >= 12 && around.iter().all(|&byte| byte == 0));
        }
        assert_eq!(buffer_bytes(0), Ok(None));
        assert!(buffer_bytes(MAX_BYTES + 1).is_err());
    }
}
