//! Invalid frames: every kind has its error.

use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;

use crate::common::lz4_command::lz4_ok;
use crate::common::pages::{self, Random};
use pagepress::Error;
use pagepress::lz4::frame::{
    DetectedFormat, FrameOptions, FrameWriter, StreamError, compress, compress_stream, decompress,
    decompress_stream,
};

fn frame_of(content: &[u8]) -> Vec<u8> {
    let options = FrameOptions {
        block_checksums: true,
        ..FrameOptions::default()
    };
    compress(content, &options).expect("compresses")
}

fn error_of(frame: &[u8]) -> Error {
    decompress(frame, None).expect_err("the frame is wrong")
}

/// Returns a header with these flag and block bytes and a valid checksum.
fn header(flags: u8, block_max: u8, fields: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x04, 0x22, 0x4d, 0x18];
    let descriptor = [&[flags, block_max], fields].concat();
    let checksum = twox_hash::XxHash32::oneshot(0, &descriptor);
    frame.extend(descriptor);
    frame.push((checksum >> 8) as u8);
    frame
}

#[test]
fn input_that_is_not_a_frame() {
    assert_eq!(
        error_of(b"hello world"),
        Error::NotLz4 {
            magic: u32::from_le_bytes(*b"hell"),
            detected: DetectedFormat::Unknown,
        }
    );
    assert_eq!(
        error_of(b"hi"),
        Error::NotLz4 {
            magic: u32::from_le_bytes(*b"hi\0\0"),
            detected: DetectedFormat::Unknown,
        }
    );
    assert_eq!(error_of(b""), Error::TruncatedFrame { at: 0, needed: 4 });
    assert_eq!(
        error_of(&[4, 0x22]),
        Error::TruncatedFrame { at: 2, needed: 2 }
    );
}

#[test]
fn every_truncation_is_reported_as_such() {
    let frame = frame_of(&pages::text(5000, 1));
    for end in 0..frame.len() {
        match error_of(&frame[..end]) {
            Error::TruncatedFrame { at, needed } => {
                assert!(at == end as u64 && needed > 0, "{end}")
            }
            error => panic!("{end}: {error}"),
        }
    }
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 10, 0, 0, 0, 1, 2];
    for end in 0..skippable.len() {
        assert!(
            matches!(error_of(&skippable[..end]), Error::TruncatedFrame { .. }),
            "{end}"
        );
    }
    let legacy = lz4_ok(&["-l", "-c"], &pages::text(5000, 1));
    assert!(matches!(
        error_of(&legacy[..legacy.len() - 1]),
        Error::TruncatedFrame { .. }
    ));
}

#[test]
fn every_flipped_bit_of_a_frame_with_all_checksums_is_an_error() {
    let frame = frame_of(&pages::text(600, 2));
    for bit in 0..frame.len() * 8 {
        let mut wrong = frame.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(decompress(&wrong, None).is_err(), "bit {bit}");
    }
}

#[test]
fn checksums_are_compared() {
    let frame = frame_of(&pages::text(600, 2));
    let flip = |at: usize| {
        let mut wrong = frame.clone();
        wrong[at] ^= 0x10;
        match error_of(&wrong) {
            Error::ChecksumMismatch { what, .. } => what,
            error => panic!("{error}"),
        }
    };
    assert_eq!(flip(6), "header");
    assert_eq!(flip(20), "block");
    assert_eq!(flip(frame.len() - 1), "content");
}

#[test]
fn invalid_headers() {
    let invalid = |frame: &[u8]| match error_of(frame) {
        Error::InvalidFrame { what, at, .. } => (what, at),
        error => panic!("{error}"),
    };
    assert_eq!(invalid(&header(0x24, 0x40, &[])), ("version", 4));
    assert_eq!(
        invalid(&header(0x66, 0x40, &[])),
        ("reserved bit of flags", 4)
    );
    assert_eq!(
        invalid(&header(0x64, 0xc0, &[])),
        ("reserved bits of block descriptor", 5)
    );
    assert_eq!(
        invalid(&header(0x64, 0x41, &[])),
        ("reserved bits of block descriptor", 5)
    );
    assert_eq!(invalid(&header(0x64, 0x30, &[])), ("largest block size", 5));
    let mut large = header(0x60, 0x40, &[]);
    large.extend(65_537_u32.to_le_bytes());
    assert_eq!(invalid(&large), ("block size", 7));
    let dictionary = header(0x61, 0x40, &0xdead_beef_u32.to_le_bytes());
    assert_eq!(
        error_of(&dictionary),
        Error::DictionaryNeeded { id: 0xdead_beef }
    );
    let both = [&5_u64.to_le_bytes()[..], &7_u32.to_le_bytes()].concat();
    assert_eq!(
        error_of(&header(0x69, 0x40, &both)),
        Error::DictionaryNeeded { id: 7 }
    );
}

#[test]
fn data_after_the_last_frame() {
    let frame = frame_of(b"content");
    let garbage = |rest: &[u8]| error_of(&[&frame, rest].concat());
    let at = frame.len() as u64;
    let what = "data after the frame";
    assert_eq!(
        garbage(b"x"),
        Error::InvalidFrame {
            what,
            value: u64::from(b'x'),
            at
        }
    );
    let value = u64::from(u32::from_le_bytes(*b"garb"));
    assert_eq!(garbage(b"garbage"), Error::InvalidFrame { what, value, at });
}

#[test]
fn a_wrong_content_size() {
    let mut frame = header(0x68, 0x40, &6_u64.to_le_bytes());
    frame.extend([5, 0, 0, 0x80, 1, 2, 3, 4, 5, 0, 0, 0, 0]);
    assert_eq!(
        error_of(&frame),
        Error::ContentSizeMismatch {
            stored: 6,
            actual: 5
        }
    );
    let options = FrameOptions {
        content_size: Some(6),
        ..FrameOptions::default()
    };
    let error = compress(b"12345", &options);
    assert_eq!(
        error,
        Err(Error::ContentSizeMismatch {
            stored: 6,
            actual: 5
        })
    );
}

#[test]
fn an_error_has_the_index_of_the_corrupt_block() {
    let content = pages::text(400_000, 2);
    let options = FrameOptions {
        content_checksum: false,
        ..FrameOptions::default()
    };
    let mut frame = compress(&content, &options).expect("compresses");
    let mut at = 7;
    for _ in 0..3 {
        at += 4 + u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
            as usize;
    }
    frame[at + 4] = 0x00; // no literals, so the first match reaches before the block
    frame[at + 5..at + 7].copy_from_slice(&9_u16.to_le_bytes());
    assert_eq!(
        error_of(&frame),
        Error::MatchBeforeContent {
            page: 3,
            n_bytes: 9
        }
    );
}

#[test]
fn the_limit_is_enforced() {
    let content = pages::zeros(50_000_000, 0);
    for size in [None, Some(content.len() as u64)] {
        let options = FrameOptions {
            content_size: size,
            ..FrameOptions::default()
        };
        let frame = compress(&content, &options).expect("compresses");
        let limit = content.len() as u64;
        assert!(decompress(&frame, Some(limit)).as_deref() == Ok(&*content));
        for limit in [0, 1000, limit - 1] {
            assert_eq!(
                decompress(&frame, Some(limit)),
                Err(Error::OutputLimit { limit })
            );
            let result = decompress_stream(
                Cursor::new(frame.clone()),
                &mut Vec::new(),
                Some(limit),
                |_| ControlFlow::Continue(()),
            );
            assert!(matches!(
                result,
                Err(StreamError::Codec(Error::OutputLimit { .. }))
            ));
        }
    }
    let linked = lz4_ok(&["-BD", "-c"], &content);
    let limit = 1 << 20;
    assert_eq!(
        decompress(&linked, Some(limit)),
        Err(Error::OutputLimit { limit })
    );
}

#[test]
fn mutated_frames_never_panic() {
    let content = pages::mixed(150_000, 3);
    let plain = FrameOptions {
        content_checksum: false,
        ..FrameOptions::default()
    };
    let frames = [
        frame_of(&content),
        compress(&content, &plain).expect("compresses"),
        lz4_ok(&["-BD", "-B4", "--no-frame-crc", "-c"], &content),
        lz4_ok(&["-l", "-c"], &content),
    ];
    let mut random = Random::new(4);
    for i in 0..4000 {
        let mut frame = frames[i % frames.len()].clone();
        for _ in 0..1 + random.below(4) {
            // Half of the changes hit the header and the size of the first block.
            let range = if random.below(2) == 0 {
                20
            } else {
                frame.len()
            };
            let at = random.below(range);
            frame[at] = random.byte();
        }
        // Any outcome without a panic or unbounded output is accepted.
        if let Ok(content) = decompress(&frame, Some(1 << 24)) {
            assert!(content.len() <= 1 << 24);
        }
    }
}

#[test]
fn blocks_of_impossible_sizes_are_rejected() {
    let mut out = Vec::new();
    let mut writer = FrameWriter::new(&FrameOptions::default(), &mut out).expect("starts");
    let kind = pagepress::lz4::PageKind::Lz4;
    assert!(writer.push_block(&[1; 100], kind, &[], &mut out).is_err());
    assert!(
        writer
            .push_block(&[1; 65_537], kind, &[1, 2], &mut out)
            .is_err()
    );
    assert!(
        writer
            .push_pages(&[1; 100], &[], &[], 4096, &mut out)
            .is_err()
    );
    let options = FrameOptions {
        block_size: 100,
        ..FrameOptions::default()
    };
    assert!(FrameWriter::new(&options, &mut out).is_err());
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("no luck"))
    }
}

impl io::Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no luck"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn streams_separate_read_and_write_errors_and_can_be_cancelled() {
    let options = FrameOptions::default();
    let go_on = |_| ControlFlow::Continue(());
    let result = compress_stream(Failing, &mut Vec::new(), &options, go_on);
    assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
    let result = decompress_stream(Failing, &mut Vec::new(), None, go_on);
    assert!(matches!(result, Err(StreamError::Read(_))), "{result:?}");
    let result = compress_stream(Cursor::new(vec![1; 100]), &mut Failing, &options, go_on);
    assert!(matches!(result, Err(StreamError::Write(_))), "{result:?}");
    let input = Cursor::new(pages::text(20_000_000, 1));
    let result = compress_stream(input, &mut Vec::new(), &options, |_| ControlFlow::Break(()));
    assert!(
        matches!(result, Err(StreamError::Codec(Error::Cancelled))),
        "{result:?}"
    );
    let endless = io::repeat(7);
    let result = compress_stream(endless, &mut Vec::new(), &options, |_| {
        ControlFlow::Break(())
    });
    assert!(
        matches!(result, Err(StreamError::Codec(Error::Cancelled))),
        "{result:?}"
    );
}
