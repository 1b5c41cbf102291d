//! Blocks without a frame: raw, size-prefixed, and in Hadoop's records.

use pagepress::Error;
use pagepress::lz4::Level;
use pagepress::lz4::formats::{Format, compress, decompress, measure_block};
use pagepress::lz4::frame::DetectedFormat;

use super::random::{Random, mutated};

/// Blocks per execution, each raw and size-prefixed.
pub const INPUTS: u64 = 32;

const LIMIT: u64 = 1 << 20;

/// Reads blocks in both formats: the content equals liblz4's, has the measured size, and obeys the limit.
pub fn raw_blocks(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    one(data);
    for _ in 1..INPUTS / 2 {
        one(&mutated(data, &mut random));
    }
    INPUTS
}

/// Reads the bytes as Hadoop's records, and round-trips them through every format.
fn records(bytes: &[u8]) {
    if let Ok(content) = decompress(bytes, Format::Hadoop, Some(LIMIT)) {
        assert!(content.len() as u64 <= LIMIT);
    }
    for format in [Format::Block, Format::SizePrefixed, Format::Hadoop] {
        let compressed = compress(bytes, format, Level::Sequential).unwrap();
        assert!(decompress(&compressed, format, None).as_deref() == Ok(bytes));
    }
}

fn one(bytes: &[u8]) {
    let _ = DetectedFormat::of(bytes);
    records(bytes);
    let measured = measure_block(bytes);
    let found = decompress(bytes, Format::Block, Some(LIMIT));
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
        let _ = decompress(bytes, Format::SizePrefixed, Some(LIMIT));
        return;
    };
    for size in [n, n + 1, 0, u64::from(u32::MAX)] {
        let prefixed = [&(size as u32).to_le_bytes()[..], bytes].concat();
        let again = decompress(&prefixed, Format::SizePrefixed, Some(LIMIT));
        if size == n {
            assert_eq!(again, found);
        } else {
            assert!(
                match again {
                    Err(Error::ContentSizeMismatch { .. }) => true,
                    Err(Error::OutputLimit { .. }) => n > LIMIT,
                    _ => false,
                },
                "{size} for {n}"
            );
        }
    }
}
