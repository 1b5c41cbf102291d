//! Frames in both directions against liblz4 and the `lz4` command.

use std::io::Cursor;
use std::ops::ControlFlow;

use crate::common::lz4_command::lz4_ok;
use crate::common::pages::{self, Generator};
use lzzzz::lz4f;
use pagepress::lz4::Level;
use pagepress::lz4::frame::{
    FrameDecoder, FrameOptions, FrameWriter, compress, compress_stream, decompress,
    decompress_stream,
};

const SIZES: [usize; 14] = [
    0,
    1,
    12,
    13,
    4095,
    4096,
    4097,
    65_535,
    65_536,
    65_537,
    300_000,
    1 << 20,
    4_194_305,
    9_000_000,
];
const KINDS: [Generator; 5] = [
    ("random", pages::random),
    ("text", pages::text),
    ("memory", pages::memory),
    ("runs", pages::runs),
    ("zeros", pages::zeros),
];
const BLOCK_SIZES: [u32; 9] = [
    4096,
    5000,
    16_384,
    65_536,
    65_537,
    262_144,
    1 << 20,
    1_500_000,
    4 << 20,
];

fn contents() -> impl Iterator<Item = (String, Vec<u8>)> {
    SIZES.into_iter().flat_map(|size| {
        KINDS.map(|(name, generator)| (format!("{name} {size}"), generator(size, size as u64)))
    })
}

/// Decodes in slices of growing, uneven sizes.
fn decompress_in_pieces(bytes: &[u8], piece: usize) -> pagepress::Result<Vec<u8>> {
    let mut decoder = FrameDecoder::new(None);
    let (mut held, mut out) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(piece) {
        held.extend_from_slice(piece);
        loop {
            let consumed = decoder.advance(&held, &mut out)?;
            if consumed == 0 {
                break;
            }
            held.drain(..consumed);
        }
    }
    decoder.finish(&held)?;
    Ok(out)
}

#[test]
fn frames_of_every_option_are_read_by_liblz4_and_by_this_crate() {
    let input = pages::mixed(700_000, 3);
    for block_size in BLOCK_SIZES {
        for level in [Level::Fast, Level::High, Level::Sequential] {
            for flags in 0..8 {
                let options = FrameOptions {
                    block_size,
                    level,
                    content_checksum: flags & 1 != 0,
                    block_checksums: flags & 2 != 0,
                    content_size: (flags & 4 != 0).then_some(input.len() as u64),
                    index: false,
                    dictionary: None,
                };
                let frame = compress(&input, &options).expect("compresses");
                let mut content = Vec::new();
                lz4f::decompress_to_vec(&frame, &mut content).expect("liblz4 accepts it");
                assert!(content == input, "{options:?}");
                assert!(
                    decompress(&frame, None).as_deref() == Ok(&*input),
                    "{options:?}"
                );
            }
        }
    }
}

#[test]
fn every_content_round_trips_through_the_command() {
    for (name, input) in contents() {
        let frame = compress(&input, &FrameOptions::default()).expect("compresses");
        assert!(lz4_ok(&["-d", "-c"], &frame) == input, "{name}");
        assert!(decompress(&frame, None).as_deref() == Ok(&*input), "{name}");
        let theirs = lz4_ok(&["-c"], &input);
        assert!(
            decompress(&theirs, None).as_deref() == Ok(&*input),
            "{name}"
        );
    }
}

#[test]
fn every_frame_of_the_command_is_read() {
    for input in [
        Vec::new(),
        pages::mixed(9_000_000, 5),
        pages::random(70_000, 1),
    ] {
        for block in ["-B4", "-B5", "-B6", "-B7"] {
            for options in [
                &["-BD"][..],
                &["-BI"],
                &["-BX"],
                &["-BD", "-BX"],
                &["--no-frame-crc"],
                &["-9"],
            ] {
                let arguments = [&["-c", block], options].concat();
                let frame = lz4_ok(&arguments, &input);
                assert!(
                    decompress(&frame, None).as_deref() == Ok(&*input),
                    "{arguments:?}"
                );
            }
        }
    }
}

#[test]
fn the_content_size_that_the_command_writes_is_read() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let input = pages::text(100_000, 8);
    std::fs::write(file.path(), &input).expect("writes");
    let path = file.path().to_str().expect("the path is text");
    let frame = lz4_ok(&["--content-size", "-c", path], &[]);
    assert!(frame[4] & 8 != 0, "the frame has a content size");
    assert_eq!(decompress(&frame, None).as_deref(), Ok(&*input));
}

#[test]
fn legacy_frames_are_read() {
    for size in [0, 1, 100_000, 8 << 20, (8 << 20) + 1, 20_000_000] {
        let input = pages::text(size, 9);
        let frame = lz4_ok(&["-l", "-c"], &input);
        assert!(decompress(&frame, None).as_deref() == Ok(&*input), "{size}");
        let both = [&frame[..], &frame, &lz4_ok(&["-c"], &input)].concat();
        assert!(
            decompress(&both, None) == Ok(input.repeat(3)),
            "{size}, and frames after it"
        );
    }
}

#[test]
fn linked_frames_of_liblz4_are_read() {
    let input = pages::long_matches(3_000_000, 4);
    for size in [
        lz4f::BlockSize::Max64KB,
        lz4f::BlockSize::Max256KB,
        lz4f::BlockSize::Max4MB,
    ] {
        let preferences = lz4f::PreferencesBuilder::new()
            .block_size(size)
            .block_mode(lz4f::BlockMode::Linked)
            .content_checksum(lz4f::ContentChecksum::Enabled)
            .build();
        let mut frame = Vec::new();
        lz4f::compress_to_vec(&input, &mut frame, &preferences).expect("compresses");
        assert!(decompress(&frame, None).as_deref() == Ok(&*input));
        for piece in [1009, 65_537] {
            assert!(
                decompress_in_pieces(&frame, piece).as_deref() == Ok(&*input),
                "{piece}"
            );
        }
    }
}

#[test]
fn concatenated_frames_are_read_and_skippable_ones_skipped() {
    let input = pages::memory(200_000, 6);
    let frame = compress(&input, &FrameOptions::default()).expect("compresses");
    for skipped in [0_u32, 1, 3, 100_000] {
        let mut skippable = vec![0x5a, 0x2a, 0x4d, 0x18];
        skippable.extend(skipped.to_le_bytes());
        skippable.extend(pages::random(skipped as usize, 1));
        let all = [
            &skippable[..],
            &frame,
            &skippable,
            &skippable,
            &frame,
            &skippable,
        ]
        .concat();
        assert!(lz4_ok(&["-d", "-c"], &all) == input.repeat(2));
        assert!(decompress(&all, None) == Ok(input.repeat(2)), "{skipped}");
        for piece in [1, 7, 100, 50_000] {
            assert!(
                decompress_in_pieces(&all, piece) == Ok(input.repeat(2)),
                "{skipped} {piece}"
            );
        }
        assert_eq!(
            decompress(&skippable, None),
            Ok(Vec::new()),
            "a skippable frame alone"
        );
    }
}

#[test]
fn blocks_of_varying_content_sizes_are_joined() {
    // A writer that flushes writes short blocks between full ones.
    let pieces = [100, 65_536, 10, 65_536, 65_536, 1, 4096, 65_536, 30_000];
    let mut frame = Vec::new();
    let options = FrameOptions::default();
    let mut writer = pagepress::lz4::frame::FrameWriter::new(&options, &mut frame).expect("starts");
    let mut input = Vec::new();
    for (i, size) in pieces.into_iter().cycle().take(50).enumerate() {
        let content = pages::GENERATORS[i % pages::GENERATORS.len()].1(size, i as u64);
        writer.push(&content, &mut frame).expect("compresses");
        input.extend(content);
    }
    writer.finish(&mut frame).expect("ends");
    assert!(decompress(&frame, None).as_deref() == Ok(&*input));
    assert!(lz4_ok(&["-d", "-c"], &frame) == input);
}

/// Returns the bytes of content of each call of a decoder on `file`, and compares them with `content`.
fn parts(file: &[u8], content: &[u8]) -> Vec<usize> {
    let (mut decoder, mut out) = (FrameDecoder::new(None), Vec::new());
    let (mut at, mut parts) = (0, Vec::new());
    loop {
        let before = out.len();
        let consumed = decoder.advance(&file[at..], &mut out).expect("sound");
        if consumed == 0 {
            break;
        }
        at += consumed;
        parts.push(out.len() - before);
    }
    decoder.finish(&file[at..]).expect("the end");
    assert!(out == content);
    parts
}

#[test]
fn small_blocks_count_with_their_own_size() {
    const MOST: usize = 16 << 20;
    let content = pages::memory(40 << 20, 7);
    for block_size in [16_384, 65_536] {
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        let file = compress(&content, &options).expect("in range");
        assert_eq!(parts(&file, &content), [MOST, MOST, 8 << 20]);
    }
}

#[test]
fn larger_blocks_than_the_first_are_bounded_in_one_call() {
    let content = vec![0; 100 + (160 << 20)];
    let (mut file, options) = (Vec::new(), FrameOptions::default());
    let mut writer = FrameWriter::new(&options, &mut file).expect("in range");
    writer.push(&content[..100], &mut file).expect("memory");
    writer.push(&content[100..], &mut file).expect("memory");
    writer.finish(&mut file).expect("all of it");
    let parts = parts(&file, &content);
    assert!(parts.iter().all(|&n| n <= 64 << 20), "{parts:?}");
}

#[test]
fn streams_write_the_same_bytes_and_report_progress() {
    let input = pages::mixed(30_000_000, 11);
    let options = FrameOptions {
        block_size: 4096,
        ..FrameOptions::default()
    };
    let (mut frame, mut content) = (Vec::new(), Vec::new());
    let mut seen = Vec::new();
    let reader = Cursor::new(input.clone());
    let total = compress_stream(reader, &mut frame, &options, |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    })
    .expect("compresses");
    assert_eq!(
        (total.bytes_in, total.bytes_out),
        (input.len() as u64, frame.len() as u64)
    );
    assert!(seen.len() > 2 && seen.is_sorted_by_key(|progress| progress.bytes_in));
    assert_eq!(seen.last(), Some(&total));
    assert!(frame == compress(&input, &options).expect("compresses"));
    let reader = Cursor::new(frame.clone());
    let total = decompress_stream(reader, &mut content, None, |_| ControlFlow::Continue(()))
        .expect("decompresses");
    assert_eq!(
        (total.bytes_in, total.bytes_out),
        (frame.len() as u64, input.len() as u64)
    );
    assert!(content == input);
}

fn content_of_a_batch() -> Vec<u8> {
    let kinds = [
        pages::zeros(8192, 0),
        pages::random(4096, 1),
        pages::text(10_000, 1),
    ];
    kinds.concat()
}

#[test]
fn a_batch_of_pages_becomes_a_frame() {
    let input = content_of_a_batch();
    let options = FrameOptions {
        block_size: 4096,
        ..FrameOptions::default()
    };
    let packed = pagepress::lz4::compress_pages(&input, 4096, Level::Fast).expect("compresses");
    let mut frame = Vec::new();
    let mut writer = pagepress::lz4::frame::FrameWriter::new(&options, &mut frame).expect("starts");
    writer
        .push_pages(&input, &packed.packed, &packed.table, 4096, &mut frame)
        .expect("fits");
    writer.finish(&mut frame).expect("ends");
    assert!(frame == compress(&input, &options).expect("compresses"));
    assert!(lz4_ok(&["-d", "-c"], &frame) == input);
}

/// The batch is large enough for its content to be hashed on another core.
#[test]
fn a_large_batch_follows_other_content_of_a_frame() {
    let input = content_of_a_batch().repeat(50);
    let options = FrameOptions {
        block_size: 4096,
        block_checksums: true,
        index: true,
        level: Level::Fast,
        ..FrameOptions::default()
    };
    let packed = pagepress::lz4::compress_pages(&input, 4096, Level::Fast).expect("compresses");
    let (table, packed) = (&packed.table, &packed.packed);
    let mut frame = Vec::new();
    let mut writer = pagepress::lz4::frame::FrameWriter::new(&options, &mut frame).expect("starts");
    writer.push(&input[..4096], &mut frame).expect("fits");
    let pushed = writer.push_pages(&input[4096..], packed, &table[1..], 4096, &mut frame);
    pushed.expect("fits");
    writer.finish(&mut frame).expect("ends");
    assert!(frame == compress(&input, &options).expect("compresses"));
    assert!(lz4_ok(&["-d", "-c"], &frame) == input);
}
