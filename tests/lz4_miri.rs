//! Blocks, pages and frames small enough for Miri, which detects undefined behaviour. Natively the same tests take no
//! time. CONTRIBUTING.md has the commands.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::{Cursor, Read};

use common::naive;
use common::pages::{GENERATORS, Random};
use pagepress::lz4::formats::{self, Format, measure_block};
use pagepress::lz4::frame::{FrameOptions, SeekableFrame, compress, decompress, decompress_into};
use pagepress::lz4::{
    Dictionary, Encoder, Level, PageKind, Parse, compress_pages, decompress_block,
    decompress_pages, decompress_pages_into, decompress_pages_status,
};

const N_BLOCKS: usize = 400;
const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];

/// Short contents of all kinds; some span several windows.
fn content(i: usize) -> Vec<u8> {
    let length = match i % 16 {
        0 => i / 16,
        1..=11 => 12 + i % 70,
        12..=14 => 100 + i % 90,
        // More windows than one search covers.
        _ if i == 63 => 1500,
        _ => 250,
    };
    GENERATORS[i % GENERATORS.len()].1(length, i as u64)
}

/// Returns a page size: larger blocks have larger hash tables, which are slow to clear in Miri.
fn page_size(i: usize) -> u32 {
    match i % 50 {
        49 => 1 << 20,
        48 => 65_536,
        i => [4096, 8192][i % 2],
    }
}

fn mutate(block: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(block.len().max(1));
    match random.below(5) {
        0 => block.truncate(at),
        1 => block.insert(at.min(block.len()), 255),
        _ if at < block.len() => block[at] = [0, 1, 0xff, 0xf0, random.byte()][random.below(5)],
        _ => {}
    }
}

#[test]
fn blocks_round_trip_and_equal_those_of_the_naive_encoder() {
    for i in 0..N_BLOCKS {
        let parse = Parse::new(page_size(i), LEVELS[i % LEVELS.len()]).expect("in range");
        let (input, mut block) = (content(i), Vec::new());
        let mut encoder = Encoder::new(&parse);
        encoder.compress_block(&input, &mut block).expect("fits");
        // The naive encoder is slower in Miri than the real one.
        if !cfg!(miri) || i % 8 == 0 {
            assert!(block == naive::compress_block(&input, &parse), "block {i}");
        }
        let mut page = vec![0xff; input.len()];
        decompress_block(&block, &mut page).expect("is sound");
        assert!(page == input, "block {i}");
        assert_eq!(measure_block(&block), Ok(input.len() as u64));
    }
}

/// Blocks whose matches begin in a dictionary, sound and damaged, with and without bytes before and behind them there.
#[test]
fn blocks_with_a_dictionary() {
    let mut random = Random::new(3);
    for (size, page_size) in [(300, 4096), (8, 8192), (3, 4096), (300, 1 << 17)] {
        let bytes = GENERATORS[3].1(size, 1);
        let dictionary = Dictionary::new(&bytes);
        for level in LEVELS {
            let parse = Parse::new(page_size, level).expect("in range");
            let mut encoder = Encoder::with_dictionary(&parse, Some(dictionary.clone()));
            for i in 0..if cfg!(miri) { 2 } else { 50 } {
                let from = random.below(size);
                let input = [&content(i), &bytes[from..], &content(i + 1), &bytes].concat();
                let mut block = Vec::new();
                encoder.compress_block(&input, &mut block).expect("fits");
                if !cfg!(miri) {
                    let expected = naive::compress_block_with(&input, &parse, &bytes);
                    assert!(block == expected, "block {i} of {level:?}");
                }
                let mut page = vec![0xff; input.len()];
                let decoded = dictionary.decompress_block(&block, &mut page);
                assert_eq!(decoded, Ok(()));
                assert!(page == input, "block {i}");
                mutate(&mut block, &mut random);
                let naive = naive::decompress_block_with(&block, page.len(), &bytes);
                let decoded = dictionary.decompress_block(&block, &mut page);
                assert_eq!(decoded.err(), naive.err());
            }
        }
        let input = bytes.repeat(3);
        let options = FrameOptions {
            dictionary: Some(dictionary.clone()),
            ..FrameOptions::default()
        };
        let frame = compress(&input, &options).expect("in range");
        assert_eq!(dictionary.decompress_frame(&frame, None), Ok(input));
    }
}

#[test]
fn an_encoder_is_reusable() {
    for level in LEVELS {
        let parse = Parse::new(4096, level).expect("in range");
        let mut encoder = Encoder::new(&parse);
        for i in [3, 63, 5, 0, 30] {
            let (input, mut block) = (content(i), Vec::new());
            encoder.compress_block(&input, &mut block).expect("fits");
            assert!(block == naive::compress_block(&input, &parse), "block {i}");
        }
    }
}

#[test]
fn corrupt_blocks_have_the_status_of_the_naive_decoder() {
    let parse = Parse::new(4096, Level::High).expect("in range");
    let mut encoder = Encoder::new(&parse);
    let mut random = Random::new(1);
    let (mut input, mut sound) = (Vec::new(), Vec::new());
    for i in 0..N_BLOCKS {
        if i % 8 == 0 {
            input = content(i);
            sound.clear();
            encoder.compress_block(&input, &mut sound).expect("fits");
        }
        let mut block = sound.clone();
        mutate(&mut block, &mut random);
        let length = [input.len(), input.len(), random.below(500)][i % 3];
        let mut page = vec![0xff; length];
        let status = decompress_block(&block, &mut page);
        match naive::decompress_block(&block, length) {
            Ok(expected) => assert!(status == Ok(()) && page == expected, "block {i}"),
            Err(error) => assert!(status == Err(error) && page.iter().all(|&b| b == 0)),
        }
        for format in [Format::Block, Format::SizePrefixed] {
            let _ = formats::decompress(&block, format, Some(10_000));
        }
    }
}

#[test]
fn pages_round_trip_and_invalid_entries_are_errors() {
    for level in LEVELS {
        let input = [content(63).repeat(3), content(15)].concat();
        let pages = compress_pages(&input, 4096, level).expect("in range");
        assert!(decompress_pages(&pages).expect("are sound") == input);
        let mut out = vec![0xa5; input.len() + 40];
        decompress_pages_into(&pages, &mut out).expect("are sound");
        assert!(out[..input.len()] == input && out[input.len()..] == [0xa5; 40]);
        let mut wrong = pages.clone();
        wrong.table[0].offset += 4;
        wrong.table[1].length = u32::MAX;
        let (_, status) = decompress_pages_status(&wrong).expect("the table is as long as pages");
        assert!(status[1].is_some(), "{status:?}");
        wrong.table[1].kind = PageKind::Stored;
        assert!(decompress_pages(&wrong).is_err());
    }
}

fn frame(i: usize, input: &[u8]) -> Vec<u8> {
    let options = FrameOptions {
        block_size: 4096,
        level: LEVELS[i % 3],
        content_checksum: i.is_multiple_of(2),
        block_checksums: i.is_multiple_of(4),
        content_size: i.is_multiple_of(3).then_some(input.len() as u64),
        index: i.is_multiple_of(5),
        dictionary: None,
    };
    compress(input, &options).expect("in range")
}

/// A frame of linked blocks: five literals, then matches that reach into earlier blocks.
fn linked_frame() -> (Vec<u8>, Vec<u8>) {
    let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0];
    let mut content = b"0123456789abcdefghij".to_vec();
    frame.extend((20_u32 | 1 << 31).to_le_bytes());
    frame.extend(&content);
    for offset in [20_u8, 1, 9, 17, 40, 3] {
        frame.extend(9_u32.to_le_bytes());
        frame.extend([0x06, offset, 0, 0x50, 1, 2, 3, 4, 5]);
        for _ in 0..10 {
            content.push(content[content.len() - usize::from(offset)]);
        }
        content.extend([1, 2, 3, 4, 5]);
    }
    frame.extend([0; 4]);
    (frame, content)
}

#[test]
fn frames_round_trip_whole_and_in_parts() {
    let (linked, linked_content) = linked_frame();
    assert!(decompress(&linked, None).expect("is sound") == linked_content);
    for i in 0..6 {
        let input = [content(63).repeat(i % 4), content(5 * i + 20), content(i)].concat();
        let mut file = frame(i, &input);
        file.extend([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        file.extend(&linked);
        let whole = [&input[..], &linked_content].concat();
        assert!(decompress(&file, None).expect("is sound") == whole);
        let mut out = vec![0xa5; whole.len() + 40];
        let length = decompress_into(&file, &mut out).expect("is sound");
        assert!(length == whole.len() && out[..length] == whole && out[length..] == [0xa5; 40]);
        let mut part = SeekableFrame::open(Cursor::new(&file)).expect("opens");
        assert!(
            part.read_range(10..whole.len() as u64 - 3).expect("reads")
                == whole[10..whole.len() - 3]
        );
        let mut rest = Vec::new();
        part.read_to_end(&mut rest).expect("reads");
        assert!(rest == whole);
    }
}

#[test]
fn corrupt_frames_are_errors_or_prefixes() {
    let mut random = Random::new(2);
    let (linked, _) = linked_frame();
    for i in 0..30 {
        let input = content(i + 20);
        let mut file = [frame(i, &input), linked.clone()].concat();
        mutate(&mut file, &mut random);
        let _ = decompress(&file, Some(20_000));
        if let Ok(mut part) = SeekableFrame::open(Cursor::new(&file)) {
            let _ = part.read_range(5..400);
        }
    }
}
