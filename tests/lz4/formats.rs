//! Formats without a frame, written and read: raw blocks, size-prefixed blocks, Hadoop's records.

use crate::common::pages::{GENERATORS, text};
use pagepress::Error;
use pagepress::lz4::formats::{Format, compress, decompress};
use pagepress::lz4::{BlockError, Level};

const FORMATS: [Format; 4] = [
    Format::Frame,
    Format::Block,
    Format::SizePrefixed,
    Format::Hadoop,
];
const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
/// Maximum content of a chunk that fits in Hadoop's buffer of 256 KiB.
const CHUNK: usize = 261_100;

fn compressed(content: &[u8], format: Format, level: Level) -> Vec<u8> {
    compress(content, format, level).expect("fits")
}

/// Decodes a block with the C library.
fn by_liblz4(block: &[u8], n_bytes: usize) -> Vec<u8> {
    let mut content = vec![0; n_bytes];
    let n = lzzzz::lz4::decompress(block, &mut content).expect("liblz4 accepts the block");
    assert_eq!(n, n_bytes);
    content
}

/// Splits `bytes` into the number at the start and the rest.
fn big_endian(bytes: &[u8]) -> (usize, &[u8]) {
    let (number, rest) = bytes.split_first_chunk().expect("a length");
    (u32::from_be_bytes(*number) as usize, rest)
}

#[test]
fn every_format_round_trips_and_liblz4_reads_its_blocks() {
    for (name, generator) in GENERATORS {
        for (length, level) in [0, 1, 12, 5000, 70_000, 300_000]
            .into_iter()
            .flat_map(|n| LEVELS.map(|level| (n, level)))
        {
            let content = generator(length, 7);
            for format in FORMATS {
                let bytes = compressed(&content, format, level);
                let read = decompress(&bytes, format, Some(length as u64));
                assert!(
                    read.as_deref() == Ok(&*content),
                    "{name} {length} {format:?}"
                );
            }
            let block = compressed(&content, Format::Block, level);
            assert!(by_liblz4(&block, length) == content, "{name} {length}");
            let prefixed = compressed(&content, Format::SizePrefixed, level);
            assert_eq!(prefixed[..4], (length as u32).to_le_bytes());
            assert!(prefixed[4..] == block);
        }
    }
}

#[test]
fn a_block_is_as_long_as_its_content() {
    let content = text(9 << 20, 3);
    let block = compressed(&content, Format::Block, Level::Sequential);
    assert!(by_liblz4(&block, content.len()) == content);
    for level in [Level::Fast, Level::High] {
        let refused = compress(&content, Format::Block, level);
        assert!(
            matches!(refused, Err(Error::InvalidArgument { .. })),
            "{refused:?}"
        );
        compress(&content, Format::Hadoop, level).expect("has many blocks");
    }
}

/// Arrow reads records of one chunk; Hadoop reads chunks whose content fits in its buffer.
#[test]
fn records_of_hadoop_have_one_chunk_of_at_most_its_buffer() {
    let content = text(600_000, 5);
    let bytes = compressed(&content, Format::Hadoop, Level::Sequential);
    let (mut rest, mut found) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let (n_bytes, behind) = big_endian(rest);
        let (length, behind) = big_endian(behind);
        assert!(n_bytes <= CHUNK && length <= 256 << 10);
        found.extend(by_liblz4(&behind[..length], n_bytes));
        rest = &behind[length..];
    }
    assert!(found == content);
    let noise = GENERATORS.iter().map(|(_, make)| make(CHUNK, 1));
    let longest = noise.map(|content| compressed(&content, Format::Hadoop, Level::Fast).len());
    assert!(longest.max() <= Some(8 + (256 << 10)));
    assert_eq!(compressed(b"", Format::Hadoop, Level::Fast), [0; 4]);
}

/// Returns a record of these chunks; `stored` is the content length that it states.
fn record(stored: u32, chunks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = stored.to_be_bytes().to_vec();
    for chunk in chunks {
        bytes.extend((chunk.len() as u32).to_be_bytes());
        bytes.extend_from_slice(chunk);
    }
    bytes
}

fn hadoop(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    decompress(bytes, Format::Hadoop, Some(1 << 20))
}

#[test]
fn records_of_many_chunks_and_empty_ones_are_read() {
    let (a, b) = (&[0x30, 1, 2, 3][..], &[0x20, 4, 5][..]);
    let two = record(5, &[a, b]);
    assert_eq!(hadoop(&two), Ok(vec![1, 2, 3, 4, 5]));
    let all = [&record(3, &[a])[..], &record(0, &[&[0]]), &two, &[0; 4]].concat();
    assert_eq!(hadoop(&all), Ok(vec![1, 2, 3, 1, 2, 3, 4, 5]));
    assert_eq!(hadoop(&[0; 4]), Ok(vec![]));
    assert_eq!(hadoop(&record(0, &[&[0]])), Ok(vec![]));
}

#[test]
fn truncated_and_inconsistent_records_are_errors() {
    let (a, b) = (&[0x30, 1, 2, 3][..], &[0x20, 4, 5][..]);
    let two = record(5, &[a, b]);
    for at in 0..two.len() {
        let cut = hadoop(&two[..at]);
        assert!(
            matches!(cut, Err(Error::TruncatedFrame { .. })),
            "{at}: {cut:?}"
        );
    }
    assert_eq!(hadoop(&[]), Err(Error::TruncatedFrame { at: 0, needed: 4 }));
    assert_eq!(
        hadoop(&two[..12]),
        Err(Error::TruncatedFrame { at: 12, needed: 4 })
    );
    let mismatch = |stored, actual| Err(Error::ContentSizeMismatch { stored, actual });
    assert_eq!(hadoop(&record(4, &[a, b])), mismatch(4, 5));
    assert_eq!(hadoop(&record(2, &[a])), mismatch(2, 3));
    // Lengths beyond the end of the data, of the content and of a block.
    for stored in [6, u32::MAX] {
        let found = hadoop(&record(stored, &[a, b]));
        assert!(
            matches!(found, Err(Error::TruncatedFrame { .. })),
            "{found:?}"
        );
    }
    let mut long = record(3, &[a]);
    long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(
        hadoop(&long),
        Err(Error::TruncatedFrame {
            at: 12,
            needed: u64::from(u32::MAX) - 4
        })
    );
    let corrupt = |page, source| Err(Error::CorruptPage { page, source });
    assert_eq!(
        hadoop(&record(3, &[&[]])),
        corrupt(0, BlockError::Truncated)
    );
    let far = [0x10, 1, 2, 0];
    assert_eq!(
        hadoop(&record(9, &[a, &far])),
        corrupt(1, BlockError::OffsetTooFar)
    );
    let limit = Some(4);
    assert_eq!(
        decompress(&two, Format::Hadoop, limit),
        Err(Error::OutputLimit { limit: 4 })
    );
}
