//! The dictionary of a job: one buffer, with the layout of `shaders/lib/dictionary.wgsl`.

use crate::{Error, Result, memory};

/// Maximum bytes of a dictionary: a match reaches back 65,535 bytes at most.
const MAX_BYTES: u32 = 65_536;
/// Bits of the number of a bucket of the index.
const INDEX_BITS: u32 = 15;
/// Bytes from a position of the index on.
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
    (1 << INDEX_BITS) + WORDS_BEFORE + n_bytes.div_ceil(4) + WORDS_BEHIND
}

/// Returns the content of the buffer of the dictionary `bytes`, 1 to 65,536 of them.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn dictionary_words(bytes: &[u8]) -> Result<Vec<u32>> {
    let n_words = buffer_words(bytes.len());
    let mut words = memory::with_room(n_words)?;
    words.resize(1 << INDEX_BITS, 0);
    for (q, eight) in bytes.windows(INDEXED).enumerate() {
        let product = product_of(eight);
        let key = product << 14 & 0x7fff_0000 | 1 << 31;
        words[(product >> (32 - INDEX_BITS)) as usize] = key | q as u32;
    }
    words.extend([0; WORDS_BEFORE]);
    let (first, rest) = bytes.split_at(bytes.len() % 4);
    if !first.is_empty() {
        words.push(word_of(first) << (32 - 8 * first.len()));
    }
    words.extend(rest.chunks_exact(4).map(word_of));
    words.extend([0; WORDS_BEHIND]);
    Ok(words)
}

fn product_of(bytes: &[u8]) -> u32 {
    let fifth = u32::from(bytes[4]).wrapping_mul(2_246_822_519);
    word_of(&bytes[..4])
        .wrapping_mul(2_654_435_761)
        .wrapping_add(fifth)
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
    fn bytes_end_at_a_word_and_the_latest_position_is_in_the_index() {
        for n_bytes in [1, 3, 4, 5, 6, 4096, 65_535, 65_536] {
            let bytes: Vec<u8> = (0..n_bytes).map(|i| (i % 251) as u8).collect();
            let words = dictionary_words(&bytes).unwrap();
            let n = buffer_bytes(n_bytes).unwrap().unwrap();
            assert_eq!(4 * words.len() as u64, n, "{n_bytes}");
            let (index, rest) = words.split_at(1 << INDEX_BITS);
            let laid: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
            let end = laid.len() - 4 * WORDS_BEHIND;
            assert!(laid[..end].ends_with(&bytes), "{n_bytes}");
            let around = [&laid[..end - bytes.len()], &laid[end..]].concat();
            assert!(around.len() >= 12 && around.iter().all(|&byte| byte == 0));
            let bucket = |q: usize| product_of(&bytes[q..]) >> (32 - INDEX_BITS);
            for q in 0..(bytes.len() + 1).saturating_sub(INDEXED) {
                let latest = (index[bucket(q) as usize] & 0xffff) as usize;
                assert!(
                    latest >= q && bucket(latest) == bucket(q),
                    "{q} of {n_bytes}"
                );
            }
        }
        assert_eq!(buffer_bytes(0), Ok(None));
        assert!(buffer_bytes(MAX_BYTES + 1).is_err());
    }
}
