//! Blocks with positions that an empty entry of the hash table decodes to.

use crate::common::naive;
use pagepress::lz4::{Encoder, Level, MAX_BLOCK_SIZE, Parse, decompress_block};

fn assert_canonical(input: &[u8], parse: &Parse) {
    let mut block = Vec::new();
    let mut encoder = Encoder::new(parse);
    encoder.compress_block(input, &mut block).expect("fits");
    let mut page = vec![0; input.len()];
    let status = decompress_block(&block, &mut page);
    assert_eq!(status, Ok(()), "{parse:?}, {} bytes", input.len());
    assert!(page == input, "{parse:?}, {} bytes", input.len());
    assert!(
        block == naive::compress_block(input, parse),
        "{parse:?}, {} bytes",
        input.len()
    );
}

/// Words of every kind in the last window of the largest block, with an almost empty hash table.
#[test]
fn the_last_window_of_the_largest_block() {
    for level in [Level::Fast, Level::High] {
        let parse = Parse::new(MAX_BLOCK_SIZE, level).expect("in range");
        let mut input = vec![0; MAX_BLOCK_SIZE as usize];
        let last_window = input.len() - 64;
        // A word whose hash is zero below the bucket bits, so that an empty entry matches it.
        let word = (1..)
            .find(|&word| kept(word, &parse) == 0)
            .expect("there is one");
        for start in [0, 1, 7] {
            input[last_window..].fill(0);
            input[last_window + start..][..5].copy_from_slice(&word.to_le_bytes()[..5]);
            input[last_window + start + 20..][..5].copy_from_slice(&word.to_le_bytes()[..5]);
            assert_canonical(&input, &parse);
        }
    }
}

/// Returns the hash bits of five bytes that an entry keeps.
fn kept(word: u64, parse: &Parse) -> u32 {
    let product = (word as u32)
        .wrapping_mul(2_654_435_761)
        .wrapping_add((word >> 32) as u32 * 2_246_822_519);
    product << parse.bucket_bits() >> 22
}

/// A run that ends at position 63, and its last word again: only the empty entries hold that position.
#[test]
fn short_blocks_with_the_word_of_position_63() {
    for page_size in [4096, 8192, 65_536] {
        for level in [Level::Fast, Level::High] {
            let parse = Parse::new(page_size, level).expect("in range");
            for length in 76..300 {
                for symbol in 0..40_u8 {
                    let mut input: Vec<u8> = (0..length).map(|i| 100 + (i % 89) as u8).collect();
                    input[50..67].fill(symbol);
                    input[67] = 77;
                    let at = 70 + usize::from(symbol % 6);
                    if at + 8 < length {
                        input[at..at + 4].fill(symbol);
                        input[at + 4] = 77;
                    }
                    assert_canonical(&input, &parse);
                }
            }
        }
    }
}
