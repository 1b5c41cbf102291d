//! Frames with a dictionary, by every reader and writer; the `lz4` command is the judge.

use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use crate::common::lz4_command::lz4_ok;
use crate::common::pages::{Random, mixed, text};
use pagepress::Error;
use pagepress::batch::{Codec, CodecOptions, CompressWriter};
use pagepress::lz4::frame::{
    FrameDecoder, FrameEvent, FrameMap, FrameOptions, FrameReader, FrameWriter, SeekableFrame,
    Step, compress, compress_stream, decompress,
};
use pagepress::lz4::{Dictionary, Level};

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];

/// A dictionary, also as a file for the command.
struct Given {
    dictionary: Dictionary,
    file: tempfile::NamedTempFile,
}

impl Given {
    fn new(bytes: &[u8]) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Self {
            dictionary: Dictionary::new(bytes),
            file,
        }
    }

    /// Returns the output of `lz4 -D`, which must succeed.
    fn lz4(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let file = self.file.path().to_str().unwrap();
        lz4_ok(&[&["-c", "-D", file], arguments].concat(), input)
    }
}

/// Returns content of which parts are in the dictionary, at all distances from its end.
fn content(dictionary: &[u8], n_bytes: usize) -> Vec<u8> {
    let mut random = Random::new(n_bytes as u64);
    let mut bytes = text(n_bytes.min(20), 1);
    while bytes.len() < n_bytes {
        let from = random.below(dictionary.len().max(1));
        bytes.extend(dictionary[from..].iter().take(1 + random.below(400)));
        bytes.extend((0..random.below(30)).map(|_| random.byte()));
        let from = random.below(bytes.len());
        bytes.extend_from_within(from..(from + 50).min(bytes.len()));
    }
    bytes.truncate(n_bytes);
    bytes
}

/// Decodes `frame` with every reader.
fn assert_read(dictionary: &Dictionary, frame: &[u8], expected: &[u8], what: &str) {
    let found = dictionary.decompress_frame(frame, None).expect(what);
    assert!(found == expected, "{what}");
    let mut out = vec![0xff; expected.len() + 7];
    let n_bytes = dictionary
        .decompress_frame_into(frame, &mut out)
        .expect(what);
    assert!(
        n_bytes == expected.len() && out.starts_with(expected),
        "{what}"
    );

    for step in [frame.len().max(1), 70_001, 999] {
        let decoder = FrameDecoder::new(None).with_dictionary(dictionary.clone());
        let mut decoder = decoder.with_group_bytes(step * 4);
        let (mut out, mut at, mut end) = (Vec::new(), 0, 0);
        while end < frame.len() {
            end = frame.len().min(end + step);
            while let n_bytes @ 1.. = decoder.advance(&frame[at..end], &mut out).expect(what) {
                at += n_bytes;
            }
        }
        decoder.finish(&frame[at..]).expect(what);
        assert!(out == expected, "{what}, {step} bytes at once");
    }

    let (mut out, reader) = (Vec::new(), Cursor::new(frame.to_vec()));
    let goes_on = |_| ControlFlow::Continue(());
    let done = dictionary.decompress_stream(reader, &mut out, None, goes_on);
    assert_eq!(done.expect(what).bytes_out, expected.len() as u64);
    assert!(out == expected, "{what}, stream");

    let mut file =
        SeekableFrame::open_with_dictionary(Cursor::new(frame), dictionary.clone()).expect(what);
    assert_eq!(file.content_bytes().expect(what), expected.len() as u64);
    let mut random = Random::new(1);
    for _ in 0..6 {
        let from = random.below(expected.len() + 1);
        let to = (from + 1 + random.below(70_000)).min(expected.len());
        let part = file.read_range(from as u64..to as u64).expect(what);
        assert!(part == expected[from..to], "{what}, {from} to {to}");
    }
    let middle = expected.len() / 2;
    file.seek(SeekFrom::Start(middle as u64)).unwrap();
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).expect(what);
    assert!(rest == expected[middle..], "{what}, from the middle");
}

#[test]
fn the_command_reads_every_frame() {
    for (size, n_bytes) in [
        (65_536, 600_000),
        (70_000, 200_000),
        (3000, 300_000),
        (5, 9000),
    ] {
        let bytes = mixed(size, 3);
        let given = Given::new(&bytes);
        let content = content(&bytes, n_bytes);
        for level in LEVELS {
            for (i, block_size) in [4096, 65_536, 100_000, 1 << 20, 4 << 20]
                .into_iter()
                .enumerate()
            {
                let options = FrameOptions {
                    block_size,
                    level,
                    content_checksum: i % 2 == 0,
                    block_checksums: i % 3 == 0,
                    content_size: (i % 2 == 1).then_some(n_bytes as u64),
                    index: i % 3 != 1,
                    dictionary: Some(given.dictionary.clone()),
                };
                let frame = compress(&content, &options).unwrap();
                let what = format!("{options:?}");
                // Version 1.9.4 cannot read on after a frame with block checksums and no content checksum.
                if options.content_checksum || !options.block_checksums || !options.index {
                    assert!(given.lz4(&["-d"], &frame) == content, "{what}");
                }
                assert_read(&given.dictionary, &frame, &content, &what);
                let mut without = options.clone();
                without.dictionary = None;
                let without = compress(&content, &without).unwrap();
                // The id takes four bytes.
                assert!(frame.len() <= without.len() + 4);
                if size > 1000 {
                    assert!(frame.len() < without.len());
                }
                let mut stream = Vec::new();
                let reader = Cursor::new(content.clone());
                let goes_on = |_| ControlFlow::Continue(());
                compress_stream(reader, &mut stream, &options, goes_on).unwrap();
                assert!(stream == frame, "{what}");
            }
        }
    }
}

#[test]
fn every_frame_of_the_command_is_read() {
    for (size, n_bytes) in [
        (65_536, 500_000),
        (70_000, 130_000),
        (3000, 100_000),
        (4, 3000),
    ] {
        let bytes = mixed(size, 3);
        let given = Given::new(&bytes);
        let content = content(&bytes, n_bytes);
        for level in ["-1", "-9"] {
            for block in ["-B4", "-B5", "-B6", "-B7"] {
                for form in [
                    &["-BD"][..],
                    &["-BI"],
                    &["-BD", "-BX"],
                    &["-BI", "--no-frame-crc"],
                ] {
                    let arguments = [&[level, block], form].concat();
                    let frame = given.lz4(&arguments, &content);
                    assert_read(
                        &given.dictionary,
                        &frame,
                        &content,
                        &format!("{arguments:?}"),
                    );
                }
            }
        }
    }
}

/// A dictionary stands before each frame. It may stand before one that needs none, and before legacy frames it does not.
#[test]
fn files_of_several_frames() {
    let bytes = mixed(40_000, 3);
    let given = Given::new(&bytes);
    let content = content(&bytes, 100_000);
    let options = FrameOptions {
        dictionary: Some(given.dictionary.clone()),
        ..FrameOptions::default()
    };
    let parts = [
        compress(&content, &options).unwrap(),
        given.lz4(&["-BD", "-B4"], &content),
        compress(&content, &FrameOptions::default()).unwrap(),
        lz4_ok(&["-c", "-l"], &content),
        given.lz4(&["-9"], &content),
    ];
    let file = parts.concat();
    assert_read(&given.dictionary, &file, &content.repeat(5), "five frames");
    // A match that reaches before the content of a legacy frame.
    let mut legacy = vec![0x02, 0x21, 0x4c, 0x18, 10, 0, 0, 0];
    legacy.extend([0x0f, 9, 0, 90, 0x50, 1, 2, 3, 4, 5]);
    let error = given
        .dictionary
        .decompress_frame(&legacy, None)
        .unwrap_err();
    let (page, n_bytes) = (0, 9);
    assert_eq!(error, Error::MatchBeforeContent { page, n_bytes });
    let opened =
        SeekableFrame::open_with_dictionary(Cursor::new(&legacy), given.dictionary.clone());
    opened.expect_err("its block reaches before the content");
}

#[test]
fn a_wrong_or_missing_dictionary_is_named() {
    let bytes = mixed(40_000, 3);
    let dictionary = Dictionary::with_id(&bytes, 0xabcd);
    let other = Dictionary::with_id(&bytes, 5);
    let content = content(&bytes, 100_000);
    for index in [false, true] {
        let options = FrameOptions {
            dictionary: Some(dictionary.clone()),
            index,
            ..FrameOptions::default()
        };
        let frame = compress(&content, &options).unwrap();
        let needed = Error::DictionaryNeeded { id: 0xabcd };
        let wrong = Error::WrongDictionary {
            expected: 0xabcd,
            actual: 5,
        };
        let mut out = vec![0xff; content.len()];
        assert_eq!(decompress(&frame, None), Err(needed.clone()));
        assert_eq!(other.decompress_frame(&frame, None), Err(wrong.clone()));
        assert_eq!(
            other.decompress_frame_into(&frame, &mut out),
            Err(wrong.clone())
        );
        let mut codec = Codec::new(CodecOptions::default()).unwrap();
        let found = codec.decompress_frame(&frame, None);
        assert_eq!(found.err(), Some(needed.clone()));
        let source = |error: std::io::Error| error.downcast::<Error>().unwrap();
        let opened = SeekableFrame::open(Cursor::new(&frame));
        assert_eq!(opened.map(drop).map_err(source), Err(needed.clone()));
        let opened = SeekableFrame::open_with_dictionary(Cursor::new(&frame), other.clone());
        assert_eq!(opened.map(drop).map_err(source), Err(wrong.clone()));
        let goes_on = |_| ControlFlow::Continue(());
        let reader = Cursor::new(frame.clone());
        let done = other.decompress_stream(reader, &mut Vec::new(), None, goes_on);
        assert_eq!(done.unwrap_err().to_string(), wrong.to_string());
        assert_eq!(FrameReader::new().step(&frame), Err(needed));
        let mut reader = FrameReader::new().with_dictionary(dictionary.clone());
        let Ok(Step::Event { event, .. }) = reader.step(&frame) else {
            panic!("no header");
        };
        let FrameEvent::Header(header) = event else {
            panic!("{event:?}");
        };
        assert_eq!(header.dictionary_id, 0xabcd);
    }
    // Without an id, a missing dictionary is found by the matches.
    let options = FrameOptions {
        dictionary: Some(Dictionary::with_id(&bytes, 0)),
        ..FrameOptions::default()
    };
    let frame = compress(&content, &options).unwrap();
    assert_eq!(decompress(&frame, None).unwrap_err().code(), "CORRUPT_PAGE");
    assert!(dictionary.decompress_frame(&frame, None).unwrap() == content);
}

/// The bytes do not depend on the way they are written, nor on the engine that a codec would select.
#[test]
fn every_writer_writes_the_same_frame() {
    let bytes = mixed(40_000, 3);
    let content = content(&bytes, 400_000);
    for block_size in [4096, 65_536] {
        let options = FrameOptions {
            block_size,
            dictionary: Some(Dictionary::new(&bytes)),
            content_size: Some(content.len() as u64),
            ..FrameOptions::default()
        };
        let expected = compress(&content, &options).unwrap();
        let mut frame = Vec::new();
        let mut writer = FrameWriter::new(&options, &mut frame).unwrap();
        for part in content.chunks(3 * 65_536) {
            writer.push(part, &mut frame).unwrap();
        }
        writer.finish(&mut frame).unwrap();
        assert!(frame == expected);
        let mut codec = Codec::new(CodecOptions::default()).unwrap();
        let (frame, report) = codec.compress_frame(&content, &options).unwrap();
        assert!(frame == expected);
        assert_eq!(report.engine, "cpu");
        let mut writer = CompressWriter::new(Vec::new(), codec, &options).unwrap();
        writer.write_all(&content).unwrap();
        assert!(writer.finish().unwrap().0 == expected);
    }
}

/// Changed bytes give a typed error or, without checksums, other content of some length; never a panic.
#[test]
fn corrupt_frames() {
    let bytes = mixed(5000, 3);
    let dictionary = Dictionary::new(&bytes);
    let content = content(&bytes, 30_000);
    let given = Given::new(&bytes);
    let options = FrameOptions {
        block_size: 4096,
        dictionary: Some(dictionary.clone()),
        ..FrameOptions::default()
    };
    let frames = [
        compress(&content, &options).unwrap(),
        given.lz4(&["-BD", "-B4", "--no-frame-crc"], &content),
    ];
    let mut random = Random::new(7);
    for frame in frames {
        for _ in 0..3000 {
            let mut wrong = frame.clone();
            let at = random.below(wrong.len());
            wrong[at] = random.byte();
            let whole = dictionary.decompress_frame(&wrong, Some(1 << 20));
            let mut out = Vec::new();
            let goes_on = |_| ControlFlow::Continue(());
            let reader = Cursor::new(wrong.clone());
            let streamed = dictionary.decompress_stream(reader, &mut out, Some(1 << 20), goes_on);
            match (whole, streamed) {
                (Ok(whole), Ok(_)) => assert!(whole == out),
                (Err(whole), Err(streamed)) => assert_eq!(whole.to_string(), streamed.to_string()),
                (whole, streamed) => panic!("{:?}, {streamed:?}", whole.map(drop)),
            }
            let map = FrameMap::new(wrong.len() as u64);
            let mut map = map.with_dictionary(dictionary.clone());
            while let Some(range) = map.wanted(u64::MAX) {
                if map
                    .supply(&wrong[range.start as usize..range.end as usize])
                    .is_err()
                {
                    break;
                }
            }
        }
    }
}
