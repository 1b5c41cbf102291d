//! LZ4 blocks without a frame: detection and decoding.

use crate::common::pages::{self, Random};
use pagepress::Error;
use pagepress::lz4::decompress_block;
use pagepress::lz4::formats::{self, Format, measure_block};
use pagepress::lz4::frame::{DetectedFormat, decompress};

fn error_of(bytes: &[u8]) -> Error {
    decompress(bytes, None).expect_err("is no frame")
}

#[test]
fn blocks_without_a_frame_are_detected_and_read_if_named() {
    for size in [2, 100, 5000, 300_000] {
        let content = pages::text(size, 7);
        let block = lzzzz_block(&content);
        let n_bytes = size as u64;
        let prefixed = [&(size as u32).to_le_bytes()[..], &block].concat();
        assert_eq!(measure_block(&block), Ok(n_bytes));
        for (bytes, format, wanted) in [
            (&block, Format::Block, DetectedFormat::Block { n_bytes }),
            (
                &prefixed,
                Format::SizePrefixed,
                DetectedFormat::SizePrefixed { n_bytes },
            ),
        ] {
            let Error::NotLz4 { detected, .. } = error_of(bytes) else {
                panic!("{:?}", error_of(bytes));
            };
            assert_eq!(detected, wanted);
            let read = |limit| formats::decompress(bytes, format, limit);
            assert!(read(Some(n_bytes)).as_deref() == Ok(&*content));
            let limit = n_bytes - 1;
            assert_eq!(read(Some(limit)), Err(Error::OutputLimit { limit }));
        }
        let message = error_of(&block).to_string();
        assert!(message.contains("set the format to \"block\""), "{message}");
    }
    let wrong = [&9_u32.to_le_bytes()[..], &lzzzz_block(b"content")].concat();
    assert_eq!(
        formats::decompress(&wrong, Format::SizePrefixed, None),
        Err(Error::ContentSizeMismatch {
            stored: 9,
            actual: 7
        })
    );
    assert_eq!(
        formats::decompress(&[1, 2], Format::SizePrefixed, None),
        Err(Error::TruncatedFrame { at: 2, needed: 2 })
    );
    let gzip = error_of(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    assert!(gzip.to_string().ends_with("; it is gzip"), "{gzip}");
}

/// Compresses a block with the C library.
fn lzzzz_block(content: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    lzzzz::lz4::compress_to_vec(content, &mut block, lzzzz::lz4::ACC_LEVEL_DEFAULT)
        .expect("compresses");
    block
}

#[test]
fn measuring_and_decoding_a_block_report_the_same_error() {
    let mut random = Random::new(5);
    let sound = lzzzz_block(&pages::mixed(3000, 3));
    let mut n_sound = 0;
    for _ in 0..20_000 {
        let mut block = sound.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(block.len());
            block[at] = random.byte();
        }
        block.truncate(block.len() - random.below(3).min(block.len() - 1));
        let measured = measure_block(&block);
        let mut page = vec![0; 1 << 17];
        match measured {
            Ok(n_bytes) => {
                n_sound += 1;
                page.truncate(n_bytes as usize);
                assert_eq!(decompress_block(&block, &mut page), Ok(()));
            }
            Err(error) => assert_eq!(decompress_block(&block, &mut page), Err(error)),
        }
    }
    assert!(n_sound > 1000, "{n_sound}");
}
