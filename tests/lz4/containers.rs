//! Containers of other formats, written and read: Blosc chunks and chunks of HDF5.

use crate::common::pages::GENERATORS;
use pagepress::lz4::formats::blosc::{self, BloscOptions, Shuffle};
use pagepress::lz4::formats::hdf5;
use pagepress::lz4::{BlockError, Level};
use pagepress::{Error, Result};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
const SHUFFLES: [Shuffle; 3] = [Shuffle::None, Shuffle::Byte, Shuffle::Bit];
const LENGTHS: [usize; 9] = [0, 1, 127, 128, 1000, 4099, 65_536, 70_001, 140_000];

fn options(element_size: usize, shuffle: Shuffle, block_size: usize) -> BloscOptions {
    BloscOptions {
        element_size,
        shuffle,
        block_size,
        ..BloscOptions::default()
    }
}

/// The content of the vectors: each number three times.
fn counted(n_bytes: usize) -> Vec<u8> {
    let words = (0..n_bytes.div_ceil(4) as u32).flat_map(|i| (i / 3).to_le_bytes());
    words.take(n_bytes).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

#[test]
fn containers_of_other_programs_are_read() {
    let text = include_str!("../vectors/containers.json");
    let all: Value = serde_json::from_str(text).expect("JSON");
    let vectors = all["vectors"].as_array().expect("a list");
    let mut n_read = 0;
    for vector in vectors {
        let number = |name: &str| vector[name].as_u64().map(|n| n as usize);
        let name = |name: &str| vector[name].as_str().unwrap_or_default();
        let bytes = bytes_of(name("hex"));
        let size = number("element_size").expect("a size");
        let read = match name("format") {
            "blosc" => blosc::decompress(&bytes, None),
            "hdf5-lz4" => hdf5::decompress_lz4(&bytes, None),
            "hdf5-bitshuffle" => hdf5::decompress_bitshuffle(&bytes, size, None),
            "hdf5-bitshuffle-none" => hdf5::bit_unshuffle(&bytes, size, None),
            other => panic!("{other}"),
        };
        if let Err(Error::OtherCompressor { name: found, .. }) = read {
            assert_eq!(found, name("by"));
        } else {
            let content = counted(number("content_bytes").expect("a size"));
            assert!(read.as_ref() == Ok(&content), "{vector}: {read:?}");
            n_read += 1;
        }
    }
    assert!(n_read > 20 && n_read < vectors.len(), "{n_read}");
}

#[test]
fn blosc_chunks_round_trip() -> Result<()> {
    for (name, generator) in GENERATORS {
        for n in LENGTHS {
            let content = generator(n, 5);
            for size in [1, 2, 3, 4, 8, 12, 16, 17, 255] {
                for shuffle in SHUFFLES {
                    for block_size in [0, 1, 4097] {
                        if n > 5000 && block_size == 1 {
                            continue;
                        }
                        let options = options(size, shuffle, block_size);
                        let chunk = blosc::compress(&content, &options)?;
                        assert!(chunk.len() <= n + 16, "{name} {n} {options:?}");
                        let read = blosc::decompress(&chunk, Some(n as u64))?;
                        assert!(read == content, "{name} {n} {options:?}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_level_round_trips() -> Result<()> {
    let content = counted(300_001);
    for level in LEVELS {
        for size in [1, 4] {
            let options = BloscOptions {
                level: Some(level),
                ..options(size, Shuffle::Bit, 0)
            };
            let chunk = blosc::compress(&content, &options)?;
            assert!(chunk.len() < 60_000, "{level:?} {size}: {}", chunk.len());
            assert!(blosc::decompress(&chunk, None)? == content);
        }
        let chunk = hdf5::compress_lz4(&content, Some(1000), level)?;
        assert!(hdf5::decompress_lz4(&chunk, None)? == content);
        let chunk = hdf5::compress_bitshuffle(&content[..300_000], 4, None, level)?;
        assert!(
            chunk.len() < 60_000
                && hdf5::decompress_bitshuffle(&chunk, 4, None)? == content[..300_000]
        );
    }
    let stored = BloscOptions {
        level: None,
        ..BloscOptions::default()
    };
    assert_eq!(
        blosc::compress(&content, &stored)?.len(),
        content.len() + 16
    );
    Ok(())
}

#[test]
fn chunks_of_hdf5_round_trip() -> Result<()> {
    for (name, generator) in GENERATORS {
        for n in LENGTHS {
            let content = generator(n, 5);
            for block_size in [None, Some(1), Some(4097)] {
                if n > 5000 && block_size == Some(1) {
                    continue;
                }
                let chunk = hdf5::compress_lz4(&content, block_size, Level::Sequential)?;
                assert!(
                    hdf5::decompress_lz4(&chunk, Some(n as u64))? == content,
                    "{name} {n}"
                );
            }
            for size in [1, 2, 4, 8, 12, 300] {
                let content = &content[..n / size * size];
                for elements in [None, Some(0), Some(8), Some(1000)] {
                    let chunk =
                        hdf5::compress_bitshuffle(content, size, elements, Level::Sequential)?;
                    let read = hdf5::decompress_bitshuffle(&chunk, size, Some(n as u64))?;
                    assert!(read == content, "{name} {n} {size} {elements:?}");
                    let bits = hdf5::bit_shuffle(content, size, elements)?;
                    assert!(hdf5::bit_unshuffle(&bits, size, elements)? == content);
                }
            }
        }
    }
    Ok(())
}

/// A chunk of two blocks, the second of which is short.
fn chunk() -> Vec<u8> {
    blosc::compress(&counted(5000), &options(4, Shuffle::Byte, 4096)).expect("fits")
}

#[test]
fn a_broken_header_is_an_error_that_names_the_field() {
    for (at, value, what) in [
        (0, 3, "version"),
        (1, 2, "version of LZ4"),
        (2, 0x2b, "reserved flag"),
        (3, 0, "element size"),
        (7, 0xff, "content size"),
        (9, 0xff, "block size"),
    ] {
        let mut bytes = chunk();
        bytes[at] = value;
        let found = blosc::decompress(&bytes, None);
        let is_named =
            matches!(&found, Err(Error::InvalidContainer { what: field, .. }) if *field == what);
        assert!(is_named, "{at}: {found:?}");
        assert_eq!(found.map_err(|error| error.code()), Err("INVALID_FRAME"));
    }
    for (number, name) in ["blosclz", "snappy", "zlib", "zstd"]
        .iter()
        .zip([0_u8, 2, 3, 4])
    {
        let mut bytes = chunk();
        bytes[2] = name << 5 | 1;
        let found = blosc::decompress(&bytes, None).expect_err("another compressor");
        assert_eq!(found.code(), "NOT_LZ4");
        assert!(found.to_string().contains(number), "{found}");
    }
}

#[test]
fn a_wrong_offset_or_length_is_an_error() {
    let good = chunk();
    for (at, value) in [
        (16, u32::MAX),
        (16, 0),
        (20, good.len() as u32 - 3),
        (24, u32::MAX),
        (24, 0),
    ] {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let found = blosc::decompress(&bytes, None).expect_err("broken");
        assert!(
            matches!(
                found,
                Error::TruncatedFrame { .. } | Error::CorruptPage { .. }
            ),
            "{at}: {found}"
        );
    }
    for n in 0..good.len() {
        assert!(blosc::decompress(&good[..n], None).is_err(), "{n}");
    }
}

/// A length that the input cannot have is refused before memory is allocated for it.
#[test]
fn content_that_cannot_be_is_not_allocated() {
    let sizes = |n: u64| [&n.to_be_bytes()[..], &[0, 0, 4, 0, 0, 0, 0, 1, 0]].concat();
    for n in [10_000, 1 << 31, 1 << 40, u64::MAX] {
        for read in [
            hdf5::decompress_lz4(&sizes(n), None),
            hdf5::decompress_bitshuffle(&sizes(n), 4, None),
        ] {
            assert!(
                matches!(
                    read,
                    Err(Error::InvalidContainer {
                        what: "content size",
                        ..
                    })
                ),
                "{read:?}"
            );
        }
    }
    let limited = hdf5::decompress_lz4(&sizes(1000), Some(999));
    assert_eq!(limited, Err(Error::OutputLimit { limit: 999 }));
    assert_eq!(
        blosc::decompress(&chunk(), Some(4999)),
        Err(Error::OutputLimit { limit: 4999 })
    );
}

#[test]
fn a_block_of_another_size_is_an_error() {
    // A block of one literal for content of two bytes.
    let bytes = [
        &2_u64.to_be_bytes()[..],
        &[0, 0, 0, 2, 0, 0, 0, 3, 0x10, 7, 0],
    ]
    .concat();
    let found = hdf5::decompress_lz4(&bytes, None);
    assert!(
        matches!(found, Err(Error::CorruptPage { page: 0, .. })),
        "{found:?}"
    );
    let bytes = [&3_u64.to_be_bytes()[..], &[0, 0, 0, 3, 0, 0, 0, 2, 0x10, 7]].concat();
    let source = BlockError::OutputUnderrun;
    assert_eq!(
        hdf5::decompress_lz4(&bytes, None),
        Err(Error::CorruptPage { page: 0, source })
    );
    let zero = [&3_u64.to_be_bytes()[..], &[0, 0, 0, 0]].concat();
    let found = hdf5::decompress_lz4(&zero, None);
    assert!(matches!(
        found,
        Err(Error::InvalidContainer {
            what: "block size",
            ..
        })
    ));
}

#[test]
fn arguments_out_of_range_are_errors() {
    let content = counted(1000);
    let all = [
        blosc::compress(&content, &options(0, Shuffle::Byte, 0)),
        hdf5::compress_lz4(&content, Some(0), Level::Fast),
        hdf5::compress_lz4(&content, Some(usize::MAX), Level::Sequential),
        hdf5::compress_bitshuffle(&content, 0, None, Level::Fast),
        hdf5::compress_bitshuffle(&content, 3, None, Level::Fast),
        hdf5::compress_bitshuffle(&content, 4, Some(9), Level::Fast),
        hdf5::compress_bitshuffle(&content, 4, Some(usize::MAX - 7), Level::Fast),
        hdf5::decompress_bitshuffle(&content, 0, None),
        hdf5::bit_unshuffle(&content, 0, None),
        hdf5::bit_unshuffle(&content, 3, None),
        hdf5::bit_unshuffle(&content, 4, Some(12)),
    ];
    for (i, result) in all.into_iter().enumerate() {
        assert!(
            matches!(result, Err(Error::InvalidArgument { .. })),
            "{i}: {result:?}"
        );
    }
    // As in C-Blosc, elements of more than 255 bytes count as bytes.
    let chunk = blosc::compress(&content, &options(256, Shuffle::Byte, 0)).expect("fits");
    assert_eq!(
        (chunk[3], blosc::decompress(&chunk, None)),
        (1, Ok(content))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_content_round_trips(
        content in vec(0..4_u8, 0..5000),
        size in 1..40_usize,
        shuffle in 0..3_usize,
        block_size in 0..3000_usize,
        level in 0..3_usize,
    ) {
        let options = BloscOptions { level: Some(LEVELS[level]), ..options(size, SHUFFLES[shuffle], block_size) };
        let chunk = blosc::compress(&content, &options)?;
        prop_assert_eq!(&blosc::decompress(&chunk, None)?, &content);
        let chunk = hdf5::compress_lz4(&content, Some(block_size.max(1)), LEVELS[level])?;
        prop_assert_eq!(&hdf5::decompress_lz4(&chunk, None)?, &content);
        let whole = &content[..content.len() / size * size];
        let chunk = hdf5::compress_bitshuffle(whole, size, Some(block_size / 8 * 8), LEVELS[level])?;
        prop_assert_eq!(hdf5::decompress_bitshuffle(&chunk, size, None)?, whole);
    }

    /// Mutations and noise give content or an error; the content is not larger than the limit.
    #[test]
    fn hostile_containers_are_read_or_refused(
        mut bytes in vec(any::<u8>(), 0..200),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        size in 0..20_usize,
        kind in 0..4_usize,
    ) {
        let content = counted(4000);
        bytes = match kind {
            0 => bytes,
            1 => chunk(),
            2 => hdf5::compress_lz4(&content, Some(1024), Level::Sequential)?,
            _ => hdf5::compress_bitshuffle(&content, 4, Some(256), Level::Sequential)?,
        };
        let n = bytes.len().min(64);
        for (at, value) in changes.into_iter().filter(|_| n > 0) {
            bytes[at.index(n)] = value;
        }
        let limit = Some(1 << 20);
        for read in [
            blosc::decompress(&bytes, limit),
            hdf5::decompress_lz4(&bytes, limit),
            hdf5::decompress_bitshuffle(&bytes, size, limit),
            hdf5::bit_unshuffle(&bytes, size, Some(size)),
        ].into_iter().flatten() {
            prop_assert!(read.len() <= 1 << 20);
        }
    }
}
