//! Calls that write to given memory, against those that return fresh memory.

use crate::common::pages::{GENERATORS, mixed, random, text};
use pagepress::Error;
use pagepress::batch::{BackendRequest, Codec, CodecOptions};
use pagepress::lz4::frame::{self, FrameOptions, FrameWriter};
use pagepress::lz4::{self, BlockError, Level, PackedPages};

/// Bytes behind the result, which must not change.
const BEHIND: usize = 100_000;
const UNTOUCHED: u8 = 0xa5;

fn codec() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    Codec::new(options).unwrap()
}

/// Runs `write` on `n_bytes` of memory with other bytes behind them, and returns what it wrote.
fn written<T>(n_bytes: usize, write: impl FnOnce(&mut [u8]) -> T) -> (T, Vec<u8>) {
    let mut out = vec![UNTOUCHED; n_bytes + BEHIND];
    let value = write(&mut out);
    let behind = out.split_off(n_bytes);
    assert!(behind.iter().all(|&byte| byte == UNTOUCHED), "{n_bytes}");
    (value, out)
}

/// Contents of lengths below and above a share of the thread pool; the last takes many of them.
fn contents() -> impl Iterator<Item = Vec<u8>> {
    let lengths = [0, 1, 4096, 5000, 262_145, 1_000_003, 5_300_001];
    lengths.into_iter().map(|length| mixed(length, 5))
}

#[test]
fn pages_in_given_memory_are_those_in_fresh_memory() {
    let mut codec = codec();
    // Memory of larger and smaller results before.
    let mut pages = lz4::compress_pages(&text(700_000, 1), 4096, Level::Fast).unwrap();
    for content in contents().chain([vec![], mixed(300_000, 6)]) {
        for (page_size, level) in [
            (4096, Level::Fast),
            (65_536, Level::Sequential),
            (16_384, Level::High),
        ] {
            let fresh = lz4::compress_pages(&content, page_size, level).unwrap();
            lz4::compress_pages_into(&content, page_size, level, &mut pages).unwrap();
            assert!(pages == fresh, "{} {page_size}", content.len());
            let report = codec.compress_pages_into(&content, page_size, level, &mut pages);
            assert_eq!(report.unwrap().engine, "cpu");
            assert!(pages == fresh, "{} {page_size}", content.len());
            let (done, out) = written(content.len(), |out| lz4::decompress_pages_into(&fresh, out));
            assert!(done == Ok(()) && out == content);
            let (status, out) = written(content.len(), |out| {
                codec.decompress_pages_status_into(&fresh, out)
            });
            let (status, _) = status.unwrap();
            assert!(status.iter().all(Option::is_none) && out == content);
            assert_eq!(status.len(), fresh.table.len());
        }
    }
}

/// One core takes another way: it has no shares.
#[test]
fn one_core_writes_the_same() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().unwrap();
    for content in contents() {
        let on_all = lz4::compress_pages(&content, 4096, Level::Fast).unwrap();
        let on_one = pool.install(|| lz4::compress_pages(&content, 4096, Level::Fast));
        assert!(on_one.unwrap() == on_all, "{}", content.len());
        for block_size in [4096, 300_000, 4 << 20] {
            let options = FrameOptions {
                block_size,
                ..FrameOptions::default()
            };
            let on_all = frame::compress(&content, &options).unwrap();
            let on_one = pool.install(|| frame::compress(&content, &options));
            assert!(on_one.unwrap() == on_all, "{}", content.len());
        }
    }
}

#[test]
fn corrupt_pages_are_zeros_and_others_are_there() {
    let content = mixed(1_000_000, 7);
    let mut pages = lz4::compress_pages(&content, 4096, Level::Fast).unwrap();
    pages.table[3].offset = u64::MAX - 3;
    pages.table[200].offset = u64::MAX - 3;
    let (expected, expected_status) = lz4::decompress_pages_status(&pages).unwrap();
    assert_eq!(expected_status[3], Some(BlockError::BadTableEntry));
    assert!(expected[3 * 4096..4 * 4096].iter().all(|&byte| byte == 0));
    let n_bytes = content.len();
    let (status, out) = written(n_bytes, |out| {
        lz4::decompress_pages_status_into(&pages, out)
    });
    assert!(status.unwrap() == expected_status && out == expected);
    let error = lz4::decompress_pages(&pages).unwrap_err();
    let (failed, out) = written(n_bytes, |out| lz4::decompress_pages_into(&pages, out));
    assert!(failed == Err(error.clone()) && out == expected);
    let (failed, out) = written(n_bytes, |out| codec().decompress_pages_into(&pages, out));
    assert!(failed.unwrap_err() == error && out == expected);
}

#[test]
fn memory_that_is_too_short_is_an_error_with_both_sizes() {
    let mut codec = codec();
    let content = text(300_000, 2);
    let pages = lz4::compress_pages(&content, 4096, Level::Fast).unwrap();
    for actual in [0, 1, 4096, 299_999] {
        let short = Error::OutputTooSmall {
            needed: 300_000,
            actual,
        };
        let mut out = vec![UNTOUCHED; actual as usize];
        let failed = [
            lz4::decompress_pages_into(&pages, &mut out),
            lz4::decompress_pages_status_into(&pages, &mut out).map(drop),
            codec.decompress_pages_into(&pages, &mut out).map(drop),
            codec
                .decompress_pages_status_into(&pages, &mut out)
                .map(drop),
        ];
        assert!(failed.iter().all(|failed| *failed == Err(short.clone())));
        assert!(out.iter().all(|&byte| byte == UNTOUCHED));
        assert_eq!(short.code(), "OUTPUT_LIMIT");
        let text = format!("the output has {actual} bytes, expected at least 300000");
        assert_eq!(short.to_string(), text);
    }
}

#[test]
fn a_batch_is_empty_after_an_error() {
    let mut pages = lz4::compress_pages(&text(10_000, 3), 4096, Level::Fast).unwrap();
    assert!(lz4::compress_pages_into(&[1], 5000, Level::Fast, &mut pages).is_err());
    assert!(pages == PackedPages::default());
    let mut out = vec![1, 2];
    let options = FrameOptions {
        content_size: Some(7),
        ..FrameOptions::default()
    };
    assert!(frame::compress_into(&[1], &options, &mut out).is_err());
    assert!(out.is_empty());
    out.push(3);
    assert!(
        codec()
            .compress_frame_into(&[1], &options, &mut out)
            .is_err()
    );
    assert!(out.is_empty());
}

#[test]
fn frames_in_given_memory_are_those_in_fresh_memory() {
    let mut codec = codec();
    let mut out = text(1_000, 4);
    for content in contents() {
        for block_size in [4096, 65_536, 100_000, 4 << 20] {
            let options = FrameOptions {
                block_size,
                block_checksums: block_size == 4096,
                index: block_size == 65_536,
                ..FrameOptions::default()
            };
            let fresh = frame::compress(&content, &options).unwrap();
            frame::compress_into(&content, &options, &mut out).unwrap();
            assert!(out == fresh, "{} {block_size}", content.len());
            let report = codec.compress_frame_into(&content, &options, &mut out);
            assert!(report.unwrap().engine == "cpu" && out == fresh);
            decodes(&fresh, &content, &mut codec);
        }
    }
}

/// Decodes to memory of exactly the content, and to more.
fn decodes(file: &[u8], content: &[u8], codec: &mut Codec) {
    let n_bytes = content.len();
    let (done, out) = written(n_bytes, |out| frame::decompress_into(file, out));
    assert!(done == Ok(n_bytes) && out == content, "{n_bytes}");
    let (done, out) = written(n_bytes, |out| codec.decompress_frame_into(file, out));
    assert!(done.unwrap().0 == n_bytes && out == content, "{n_bytes}");
    let mut exact = vec![UNTOUCHED; n_bytes];
    assert_eq!(frame::decompress_into(file, &mut exact), Ok(n_bytes));
    assert!(exact == content, "{n_bytes}");
}

#[test]
fn frames_of_every_kind_decode_to_given_memory() {
    let mut codec = codec();
    let content = mixed(600_000, 8);
    let options = FrameOptions::default();
    let whole = frame::compress(&content, &options).unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let several = [&whole[..], &skippable, &whole, &whole].concat();
    decodes(&several, &content.repeat(3), &mut codec);
    let stored = frame::compress(&random(200_000, 9), &options).unwrap();
    decodes(&stored, &random(200_000, 9), &mut codec);
    let mut linked = lzzzz::lz4f::PreferencesBuilder::new();
    let linked = linked.block_mode(lzzzz::lz4f::BlockMode::Linked).build();
    let mut file = Vec::new();
    lzzzz::lz4f::compress_to_vec(&content, &mut file, &linked).unwrap();
    decodes(&file, &content, &mut codec);
}

/// Blocks grow and shrink, so that places are too short and too long for their contents.
#[test]
fn blocks_of_varying_sizes_decode_to_exact_memory() {
    for lengths in [
        [4096, 100, 65_536, 4096, 1, 60_000],
        [65_536, 65_536, 4096, 1, 60_000, 3],
        [1, 65_536, 2, 65_536, 65_536, 65_536],
    ] {
        let (mut file, mut content) = (Vec::new(), Vec::new());
        let mut writer = FrameWriter::new(&FrameOptions::default(), &mut file).unwrap();
        for (i, length) in lengths.into_iter().enumerate() {
            let (_, make) = GENERATORS[i % GENERATORS.len()];
            let part = make(length, i as u64);
            writer.push(&part, &mut file).unwrap();
            content.extend(part);
        }
        writer.finish(&mut file).unwrap();
        let mut out = vec![UNTOUCHED; content.len()];
        assert_eq!(frame::decompress_into(&file, &mut out), Ok(content.len()));
        assert!(out == content, "{lengths:?}");
    }
}

#[test]
fn content_that_does_not_fit_is_an_error_with_both_sizes() {
    let content = mixed(400_000, 10);
    for content_size in [None, Some(400_000)] {
        for block_size in [4096, 65_536, 1 << 20] {
            let options = FrameOptions {
                content_size,
                block_size,
                ..FrameOptions::default()
            };
            let file = frame::compress(&content, &options).unwrap();
            for length in [0, 1, 4096, 65_536, 131_072, 399_999] {
                let mut out = vec![UNTOUCHED; length];
                let error = frame::decompress_into(&file, &mut out).unwrap_err();
                let Error::OutputTooSmall { needed, actual } = error else {
                    unreachable!("{error}");
                };
                assert_eq!(actual, length as u64);
                assert!(needed > actual && needed <= 400_000, "{needed}");
                assert!(content_size.is_none() || needed == 400_000, "{needed}");
                let by_codec = codec().decompress_frame_into(&file, &mut out);
                assert_eq!(by_codec.unwrap_err(), error);
            }
        }
    }
}

#[test]
fn errors_of_frames_are_those_of_fresh_memory() {
    let content = text(200_000, 11);
    let good = frame::compress(&content, &FrameOptions::default()).unwrap();
    let mut out = vec![0; content.len()];
    for at in (0..good.len()).step_by(499) {
        let mut bad = good.clone();
        bad[at] ^= 0x11;
        let expected = frame::decompress(&bad, None).map(|content| content.len());
        let found = frame::decompress_into(&bad, &mut out);
        // Wrong content may be longer than the memory before it is wrong in itself.
        if !matches!(found, Err(Error::OutputTooSmall { .. })) {
            assert_eq!(found, expected, "byte {at}");
        }
    }
}
