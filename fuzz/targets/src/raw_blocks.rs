//! Blocks without a frame, with and without their size in front.

use pagepress::Error;
use pagepress::lz4::frame::{Format, Seen, decompress_block_of, measure_block};

use super::random::{Random, mutated};

/// Blocks of an execution, each raw and with a size in front.
pub const INPUTS: u64 = 32;

const LIMIT: u64 = 1 << 20;

/// Reads blocks as both formats: the content is what liblz4 gives, as long as was measured, and within the limit.
pub fn raw_blocks(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    one(data);
    for _ in 1..INPUTS / 2 {
        one(&mutated(data, &mut random));
    }
    INPUTS
}

fn one(bytes: &[u8]) {
    let _ = Seen::of(bytes);
    let measured = measure_block(bytes);
    let found = decompress_block_of(Format::Block, bytes, Some(LIMIT));
    match (&measured, &found) {
        (Ok(n), Ok(content)) => {
            assert_eq!(content.len() as u64, *n);
            let mut theirs = vec![0; content.len()];
            if let Ok(n) = lzzzz::lz4::decompress(bytes, &mut theirs) {
                assert!(
                    n == content.len() && theirs == *content,
                    "liblz4 gives other content"
                );
            }
        }
        (Ok(n), Err(Error::OutputLimit { limit })) => assert!(n > limit && *limit == LIMIT),
        (Err(fault), Err(Error::CorruptPage { page: 0, source })) => assert_eq!(fault, source),
        other => panic!("{other:?}"),
    }
    let Ok(n) = measured else {
        let _ = decompress_block_of(Format::SizePrefixed, bytes, Some(LIMIT));
        return;
    };
    for size in [n, n + 1, 0, u64::from(u32::MAX)] {
        let prefixed = [&(size as u32).to_le_bytes()[..], bytes].concat();
        let again = decompress_block_of(Format::SizePrefixed, &prefixed, Some(LIMIT));
        if size == n {
            assert_eq!(again, found);
        } else {
            assert!(
                matches!(again, Err(Error::ContentSizeMismatch { .. })),
                "{again:?}"
            );
        }
    }
}
