//! The documented features of the `lz4` command, case by case and in both directions: every reader decodes its files,
//! and it decodes the files of this crate.

use std::io::{Cursor, Read};

use crate::common::lz4_command::{lz4, lz4_ok};
use crate::common::pages;
use pagepress::batch::{BackendRequest, Codec, CodecOptions, DecompressReader};
use pagepress::lz4::Level;
use pagepress::lz4::frame::{
    FrameOptions, LEGACY_MAGIC, MAGIC, SKIPPABLE_MAGIC, SeekableFrame, compress, decompress,
};

/// Contents of sizes at the boundaries of the format.
fn contents() -> Vec<Vec<u8>> {
    let sizes = [
        0, 1, 13, 65_535, 65_536, 65_537, 262_145, 1_048_577, 5_000_000,
    ];
    let mut contents: Vec<_> = sizes.map(|size| pages::mixed(size, size as u64)).into();
    contents.push(pages::random(150_000, 1));
    contents.push(pages::zeros(9_000_000, 0));
    contents.push(pages::long_matches(600_000, 2));
    contents
}

fn frame(content: &[u8], options: &FrameOptions) -> Vec<u8> {
    compress(content, options).expect("compresses")
}

fn default_frame(content: &[u8]) -> Vec<u8> {
    frame(content, &FrameOptions::default())
}

fn skippable(low: u32, content: &[u8]) -> Vec<u8> {
    let magic = (SKIPPABLE_MAGIC | low).to_le_bytes();
    [&magic[..], &(content.len() as u32).to_le_bytes(), content].concat()
}

/// Asserts that every reader, and `lz4`, decodes `file` to `content`.
#[track_caller]
fn assert_read_by_all(name: &str, file: &[u8], content: &[u8]) {
    assert_read_here(name, file, content);
    assert!(lz4_ok(&["-d", "-c"], file) == content, "{name}: lz4 -d");
    lz4_ok(&["-t"], file);
}

#[track_caller]
fn assert_read_here(name: &str, file: &[u8], content: &[u8]) {
    assert!(
        decompress(file, None).as_deref() == Ok(content),
        "{name}: decompress"
    );
    let mut read = Vec::new();
    reader(file).read_to_end(&mut read).expect("decompresses");
    assert!(read == content, "{name}: DecompressReader");
    let mut seekable = SeekableFrame::open(Cursor::new(file)).expect("opens");
    let length = content.len() as u64;
    let middle = length / 3..length - length / 4;
    let part = seekable.read_range(middle.clone()).expect("reads");
    assert!(
        part == content[middle.start as usize..middle.end as usize],
        "{name}: SeekableFrame"
    );
    assert_eq!(seekable.content_bytes().expect("walks"), length, "{name}");
}

fn reader(file: &[u8]) -> DecompressReader<&[u8]> {
    let options = CodecOptions {
        backend: BackendRequest::Cpu,
        ..CodecOptions::default()
    };
    DecompressReader::new(file, Codec::new(options).expect("the CPU"), None)
}

/// Asserts that `lz4` and every reader reject the file.
#[track_caller]
fn assert_rejected_by_all(name: &str, file: &[u8]) {
    assert!(
        !lz4(&["-t"], file).status.success(),
        "{name}: lz4 -t accepts it"
    );
    assert!(
        decompress(file, None).is_err(),
        "{name}: decompress accepts it"
    );
    let read = reader(file).read_to_end(&mut Vec::new());
    assert!(read.is_err(), "{name}: DecompressReader accepts it");
}

#[test]
fn levels_and_strategies() {
    for content in contents() {
        for level in ["-1", "-3", "-9", "-12", "--fast=7", "--best"] {
            let file = lz4_ok(&["-c", level], &content);
            assert_read_here(level, &file, &content);
        }
        let file = lz4_ok(&["-c", "-12", "--favor-decSpeed"], &content);
        assert_read_here("--favor-decSpeed", &file, &content);
        for level in [Level::Fast, Level::High, Level::Sequential] {
            let options = FrameOptions {
                level,
                ..FrameOptions::default()
            };
            assert_read_by_all(&format!("{level:?}"), &frame(&content, &options), &content);
        }
    }
}

#[test]
fn block_sizes_linked_and_independent_with_every_checksum() {
    for content in contents() {
        for size in ["-B4", "-B5", "-B6", "-B7"] {
            // lz4 1.9.4 fails for content that is one byte shorter than such a block.
            if content.len() == 65_535 && size == "-B4" {
                continue;
            }
            for links in ["-BD", "-BI"] {
                for checksums in [
                    &[][..],
                    &["-BX"],
                    &["--no-frame-crc"],
                    &["-BX", "--no-frame-crc"],
                ] {
                    let arguments = [&["-c", size, links], checksums].concat();
                    let file = lz4_ok(&arguments, &content);
                    assert_read_here(&format!("{arguments:?}"), &file, &content);
                }
            }
        }
    }
    let content = pages::mixed(3_000_000, 7);
    for block_size in [65_536, 262_144, 1 << 20, 4 << 20] {
        for flags in 0..4 {
            let options = FrameOptions {
                block_size,
                content_checksum: flags & 1 != 0,
                block_checksums: flags & 2 != 0,
                ..FrameOptions::default()
            };
            assert_read_by_all(
                &format!("{options:?}"),
                &frame(&content, &options),
                &content,
            );
        }
    }
}

#[test]
fn content_size() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file");
    let name = path.to_str().expect("the path is text");
    for content in contents() {
        std::fs::write(&path, &content).expect("writes");
        let theirs = lz4_ok(&["--content-size", "-c", name], &[]);
        assert_read_here("--content-size", &theirs, &content);
        let options = FrameOptions {
            content_size: Some(content.len() as u64),
            ..FrameOptions::default()
        };
        let ours = frame(&content, &options);
        assert_read_by_all("content size", &ours, &content);
        // Without its last block the frame is complete, except for the size in its header.
        if content.len() == 65_537 {
            let start = ours.len() - 8 - (4 + 1);
            let cut = [&ours[..start], &[0; 4], &0_u32.to_le_bytes()].concat();
            assert_rejected_by_all("a content size that is too large", &cut);
        }
    }
    // The command reports the content size of the frame.
    let content = pages::text(123_457, 8);
    let options = FrameOptions {
        content_size: Some(123_457),
        ..FrameOptions::default()
    };
    let listed = folder.path().join("listed.lz4");
    std::fs::write(&listed, frame(&content, &options)).expect("writes");
    let path = listed.to_str().expect("the path is text");
    let list = lz4_ok(&["--list", path], &[]);
    let list = String::from_utf8_lossy(&list).into_owned();
    assert!(list.contains("120.56K") && list.contains("B4I"), "{list}");
}

#[test]
fn concatenated_frames() {
    let (first, second) = (pages::text(100_000, 1), pages::mixed(3_000_000, 2));
    let theirs = |content: &[u8]| lz4_ok(&["-c"], content);
    let frames = [
        ("empty", Vec::new(), theirs(&[])),
        ("empty, ours", Vec::new(), default_frame(&[])),
        ("first", first.clone(), theirs(&first)),
        (
            "first, linked",
            first.clone(),
            lz4_ok(&["-c", "-BD", "-B4"], &first),
        ),
        ("first, ours", first.clone(), default_frame(&first)),
        (
            "second, with checksums",
            second.clone(),
            lz4_ok(&["-c", "-BX"], &second),
        ),
        ("second, ours", second.clone(), default_frame(&second)),
    ];
    for (name_a, content_a, a) in &frames {
        for (name_b, content_b, b) in &frames {
            let (file, content) = ([&a[..], b].concat(), [&content_a[..], content_b].concat());
            assert_read_by_all(&format!("{name_a}, {name_b}"), &file, &content);
        }
    }
    let all: Vec<u8> = frames
        .iter()
        .flat_map(|(_, _, frame)| frame.clone())
        .collect();
    let content: Vec<u8> = frames
        .iter()
        .flat_map(|(_, content, _)| content.clone())
        .collect();
    assert_read_by_all("all", &all, &content);
}

#[test]
fn skippable_frames() {
    let content = pages::text(150_000, 3);
    for frame in [lz4_ok(&["-c"], &content), default_frame(&content)] {
        for low in 0..16 {
            let user = skippable(low, format!("user data {low}").as_bytes());
            let name = format!("skippable frame {low}");
            assert_read_by_all(&name, &[&user[..], &frame].concat(), &content);
            assert_read_by_all(&name, &[&frame[..], &user].concat(), &content);
            let between = [&frame[..], &user, &user, &frame].concat();
            assert_read_by_all(&name, &between, &content.repeat(2));
        }
        for length in [0, 1, 4, 65_536, 300_000] {
            // The content of a skippable frame may look like a frame.
            let user = skippable(0, &frame.repeat(8)[..length.min(8 * frame.len())]);
            assert_read_by_all(
                &format!("{length} bytes"),
                &[&user[..], &frame].concat(),
                &content,
            );
        }
        let cut = &skippable(1, b"0123456789")[..12];
        assert!(
            decompress(&[&frame[..], cut].concat(), None).is_err(),
            "a skippable frame that is cut"
        );
    }
}

#[test]
fn legacy_frames() {
    for size in [0, 1, 100, 65_536, 8 << 20, (8 << 20) + 1, 17_000_000] {
        let content = pages::text(size, 4);
        for level in ["-1", "-9"] {
            let file = lz4_ok(&["-l", "-c", level], &content);
            assert_read_by_all(&format!("legacy {size} {level}"), &file, &content);
        }
    }
    let content = pages::memory(9_000_000, 5);
    let legacy = lz4_ok(&["-l", "-c"], &content);
    let modern = default_frame(&content);
    for (name, file, times) in [
        ("legacy, legacy", [&legacy[..], &legacy].concat(), 2),
        ("legacy, frame", [&legacy[..], &modern].concat(), 2),
        ("frame, legacy", [&modern[..], &legacy].concat(), 2),
        (
            "skippable, legacy",
            [&skippable(3, b"abc")[..], &legacy].concat(),
            1,
        ),
        (
            "legacy, skippable",
            [&legacy[..], &skippable(3, b"abc")].concat(),
            1,
        ),
    ] {
        assert_read_by_all(name, &file, &content.repeat(times));
    }
    assert_eq!(legacy[..4], LEGACY_MAGIC.to_le_bytes());
    assert_eq!(modern[..4], MAGIC.to_le_bytes());
}

#[test]
fn damage_and_truncation_are_rejected_by_both() {
    let content = pages::mixed(200_000, 6);
    let checked = FrameOptions {
        block_checksums: true,
        ..FrameOptions::default()
    };
    for (name, file) in [
        ("-BX", lz4_ok(&["-c", "-BX", "-B4"], &content)),
        ("-BD", lz4_ok(&["-c", "-BD", "-B4"], &content)),
        ("ours", frame(&content, &checked)),
        ("legacy", lz4_ok(&["-c", "-l"], &content)),
    ] {
        for part in 1..16 {
            let at = file.len() * part / 16;
            assert_rejected_by_all(&format!("{name}, cut at {at}"), &file[..at]);
        }
        assert_rejected_by_all(&format!("{name}, cut at its end"), &file[..file.len() - 1]);
        // A legacy frame has no checksum.
        if name == "legacy" {
            continue;
        }
        for part in 0..16 {
            let at = 7 + (file.len() - 8) * part / 16;
            let mut damaged = file.clone();
            damaged[at] ^= 0x41;
            assert_rejected_by_all(&format!("{name}, damaged at {at}"), &damaged);
        }
    }
}

#[test]
fn a_frame_with_a_dictionary_is_an_error_without_content() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dictionary = folder.path().join("dictionary");
    let content = pages::text(60_000, 9);
    std::fs::write(&dictionary, &content).expect("writes");
    let name = dictionary.to_str().expect("the path is text");
    let file = lz4_ok(&["-c", "-D", name], &content);
    assert!(lz4_ok(&["-d", "-c", "-D", name], &file) == content);
    let without = lz4_ok(&["-c"], &content);
    assert!(file.len() < without.len() / 2, "the dictionary is of use");
    assert_rejected_by_all("a frame without its dictionary", &file);
    SeekableFrame::open(Cursor::new(&file)).expect_err("its blocks reach before the content");
    for arguments in [&["-BD"][..], &["-B4", "-BI"], &["-B4", "-BD"]] {
        let file = lz4_ok(&[&["-c", "-D", name], arguments].concat(), &content);
        let error = decompress(&file, None).expect_err("its dictionary is missing");
        let text = error.to_string();
        assert!(
            text.contains("was it compressed with a dictionary (lz4 -D)?"),
            "{text}"
        );
        assert_eq!(error.code(), "CORRUPT_PAGE");
    }
}
