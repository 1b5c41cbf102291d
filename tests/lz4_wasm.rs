//! The encoder on WebAssembly, with its SIMD, against the naive encoder.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use common::naive;
use common::pages::GENERATORS;
use common::records::records;
use pagepress::lz4::{Encoder, Level, Parse, decompress_block, train_dictionary};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn blocks_equal_those_of_the_naive_encoder() {
    for level in [Level::Fast, Level::High, Level::Sequential] {
        for page_size in [4096, 16_384, 65_536, 1 << 18] {
            let parse = Parse::new(page_size, level).expect("in range");
            let mut encoder = Encoder::new(&parse);
            for (name, generator) in GENERATORS {
                for length in [1, 13, 63, 64, 77, 140, 4096, page_size as usize] {
                    let input = generator(length, u64::from(page_size) + length as u64);
                    let mut block = Vec::new();
                    encoder.compress_block(&input, &mut block).expect("fits");
                    let expected = naive::compress_block(&input, &parse);
                    assert!(block == expected, "{name} {length} {parse:?}");
                    let mut page = vec![0xff; length];
                    assert_eq!(decompress_block(&block, &mut page), Ok(()));
                    assert!(page == input, "{name} {length} {parse:?}");
                }
            }
        }
    }
}

#[wasm_bindgen_test]
fn a_dictionary_is_that_of_native_code() {
    let samples = records(2, 500, 3);
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    let dictionary = train_dictionary(&samples, 20_000).expect("trains");
    // As in `tests/lz4_train.rs`.
    assert_eq!(dictionary.id(), 1_820_355_411);
}
