//! Random access to the content of frames, with an index and without.

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

use crate::common::lz4_command::lz4_ok;
use crate::common::pages::{self, Random};
use pagepress::lz4::frame::{
    FrameOptions, FrameWriter, INDEX_MAGIC, INDEX_SIGNATURE, SeekableFrame, compress, decompress,
};
use pagepress::{Error, lz4};

const INDEXED: FrameOptions = FrameOptions {
    block_size: 65_536,
    level: lz4::Level::Fast,
    content_checksum: true,
    block_checksums: false,
    content_size: None,
    index: true,
    dictionary: None,
};

/// A file that counts the bytes read from it.
struct Counted {
    file: Cursor<Vec<u8>>,
    n_read: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.file.read(out)?;
        self.n_read.set(self.n_read.get() + n_bytes as u64);
        Ok(n_bytes)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn open(file: &[u8]) -> (SeekableFrame<Counted>, Rc<Cell<u64>>) {
    let n_read = Rc::new(Cell::new(0));
    let file = Counted {
        file: Cursor::new(file.to_vec()),
        n_read: Rc::clone(&n_read),
    };
    (SeekableFrame::open(file).expect("opens"), n_read)
}

/// Returns ranges at the edges of blocks and of the content, and others.
fn ranges(length: u64) -> Vec<Range<u64>> {
    let mut random = Random::new(length);
    let mut ranges = vec![
        0..0,
        0..1,
        0..length,
        length..length + 9,
        length / 2..u64::MAX,
    ];
    for edge in [4096, 65_536, 131_072, length] {
        ranges.push(edge.saturating_sub(1)..edge + 1);
    }
    for _ in 0..20 {
        let start = random.next() % (length + 1);
        ranges.push(start..start + random.next() % 200_000);
    }
    ranges
}

fn check(name: &str, file: &[u8], content: &[u8], has_index: bool) {
    let (mut frame, _) = open(file);
    let length = content.len() as u64;
    for range in ranges(length) {
        let end = range.end.min(length) as usize;
        let expected = &content[(range.start as usize).min(end)..end];
        let read = frame.read_range(range.clone()).expect("reads");
        assert!(read == expected, "{name}: {range:?}");
    }
    assert_eq!(frame.has_index(), has_index, "{name}");
    assert_eq!(frame.content_bytes().expect("walks"), length, "{name}");
    let mut whole = Vec::new();
    frame.seek(SeekFrom::Start(0)).expect("seeks");
    frame.read_to_end(&mut whole).expect("reads");
    assert!(whole == content, "{name}: read to the end");
}

#[test]
fn lz4_skips_an_index_that_finds_every_part() {
    let content = pages::mixed(1_500_000, 1);
    for flags in 0..8 {
        for block_size in [4096, 5000, 65_536, 1 << 20] {
            let options = FrameOptions {
                block_size,
                content_checksum: flags & 1 != 0,
                block_checksums: flags & 2 != 0,
                content_size: (flags & 4 != 0).then_some(content.len() as u64),
                ..INDEXED
            };
            let file = compress(&content, &options).expect("compresses");
            // After several blocks with checksums in a frame without a content checksum, lz4 1.9.4 takes the next word
            // for a checksum; it cannot read two such frames of its own either.
            if options.content_checksum || !options.block_checksums {
                assert!(lz4_ok(&["-d", "-c"], &file) == content, "{options:?}");
            }
            assert!(
                decompress(&file, None).as_deref() == Ok(&*content),
                "{options:?}"
            );
            check(&format!("{options:?}"), &file, &content, true);
        }
    }
}

#[test]
fn the_format_is_as_documented() {
    let file = compress(&pages::text(100_000, 1), &INDEXED).expect("compresses");
    let frame = compress(
        &pages::text(100_000, 1),
        &FrameOptions {
            index: false,
            ..INDEXED
        },
    )
    .expect("compresses");
    assert!(file.starts_with(&frame));
    let index = &file[frame.len()..];
    let word =
        |at: usize| u32::from_le_bytes([index[at], index[at + 1], index[at + 2], index[at + 3]]);
    assert_eq!((word(0), word(4)), (INDEX_MAGIC, 8 * 2 + 28));
    assert_eq!(INDEX_MAGIC, 0x184d_2a55);
    assert_eq!(
        word(8),
        u32::from_le_bytes([frame[7], frame[8], frame[9], frame[10]])
    );
    assert_eq!((word(12), word(20)), (65_536, 100_000 - 65_536));
    assert_eq!((u64::from(word(24)), word(28)), (frame.len() as u64, 0));
    assert_eq!((word(32), word(36)), (2, 1), "blocks and version");
    assert_eq!(word(40), 7 | 2 << 16, "bytes of the header, and flags");
    let sum = twox_hash::XxHash32::oneshot(0, &index[8..index.len() - 8]);
    assert_eq!(word(44), sum);
    assert_eq!(&index[48..], INDEX_SIGNATURE);
}

#[test]
fn every_kind_of_file_is_read_without_an_index() {
    let content = pages::mixed(1_500_000, 2);
    for arguments in [
        &["-c"][..],
        &["-c", "-B4", "-BX"],
        &["-c", "-BD", "-B4"],
        &["-c", "-BD", "-B5", "-BX"],
        &["-c", "-l"],
    ] {
        check(
            &format!("{arguments:?}"),
            &lz4_ok(arguments, &content),
            &content,
            false,
        );
    }
    // Blocks of irregular sizes.
    let mut uneven = Vec::new();
    let mut writer = FrameWriter::new(&FrameOptions::default(), &mut uneven).expect("starts");
    for piece in content.chunks(70_001) {
        writer.push(piece, &mut uneven).expect("compresses");
    }
    writer.finish(&mut uneven).expect("ends");
    check("uneven", &uneven, &content, false);
    check("empty", &lz4_ok(&["-c"], &[]), &[], false);
}

#[test]
fn concatenated_frames_are_one_content() {
    let content = pages::mixed(300_000, 3);
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let indexed = compress(&content, &INDEXED).expect("compresses");
    let small = compress(
        &content,
        &FrameOptions {
            block_size: 4096,
            ..INDEXED
        },
    )
    .expect("compresses");
    let plain = lz4_ok(&["-c", "-BD", "-B4"], &content);
    for (name, files, has_index) in [
        ("both indexed", vec![&indexed, &small], true),
        (
            "the last one indexed",
            vec![&plain, &skippable, &indexed, &small],
            true,
        ),
        ("the first one indexed", vec![&indexed, &plain], false),
        ("something at the end", vec![&indexed, &skippable], false),
        ("linked ones", vec![&plain, &plain], false),
    ] {
        let n_frames = files.iter().filter(|&&file| *file != skippable).count();
        let file = files.into_iter().flatten().copied().collect::<Vec<_>>();
        check(name, &file, &content.repeat(n_frames), has_index);
    }
}

#[test]
fn blocks_of_uneven_sizes_have_an_index_too() {
    let content = pages::mixed(1_000_000, 4);
    let mut file = Vec::new();
    let options = FrameOptions {
        block_checksums: true,
        ..INDEXED
    };
    let mut writer = FrameWriter::new(&options, &mut file).expect("starts");
    for piece in content.chunks(70_001) {
        writer.push(piece, &mut file).expect("compresses");
    }
    writer.finish(&mut file).expect("ends");
    check("uneven", &file, &content, true);
}

#[test]
fn a_small_range_reads_few_bytes() {
    let content = pages::text(40_000_000, 5);
    let file = compress(&content, &INDEXED).expect("compresses");
    let (mut frame, n_read) = open(&file);
    assert!(n_read.get() < 70_000, "{} bytes to open", n_read.get());
    let before = n_read.get();
    let read = frame.read_range(30_000_000..30_000_100).expect("reads");
    assert!(read == content[30_000_000..30_000_100]);
    let bytes = n_read.get() - before;
    assert!(bytes < 65_536, "{bytes} bytes for a part of one block");
    // Sequential reads through small buffers decode no block twice.
    frame.seek(SeekFrom::Start(1_000_000)).expect("seeks");
    let before = n_read.get();
    let mut piece = [0; 1000];
    for i in 0..1000 {
        frame.read_exact(&mut piece).expect("reads");
        assert!(piece[..] == content[1_000_000 + 1000 * i..][..1000]);
    }
    let bytes = n_read.get() - before;
    assert!(bytes < 3_000_000, "{bytes} bytes for a million");
    let end = frame.seek(SeekFrom::End(-5)).expect("seeks");
    assert_eq!(end, content.len() as u64 - 5);
    let mut rest = Vec::new();
    frame.read_to_end(&mut rest).expect("reads");
    assert!(rest == content[content.len() - 5..]);
    frame
        .seek(SeekFrom::Start(u64::MAX))
        .expect("seeks past the end");
    assert_eq!(frame.read(&mut piece).expect("is at the end"), 0);
    frame.seek(SeekFrom::Current(-5)).expect("seeks");
    frame
        .seek(SeekFrom::End(i64::MIN))
        .expect_err("is before the start");
}

#[test]
fn a_damaged_index_is_ignored() {
    let content = pages::text(300_000, 6);
    let file = compress(&content, &INDEXED).expect("compresses");
    let index_at = file.len() - (8 + 8 * 5 + 28);
    for bit in index_at * 8..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let opened = SeekableFrame::open(Cursor::new(damaged));
        // The walk depends on the index's magic number and length, too.
        let Ok(mut frame) = opened else { continue };
        assert!(!frame.has_index(), "bit {bit}");
        match frame.read_range(70_000..70_100) {
            Ok(read) => assert!(read == content[70_000..70_100], "bit {bit}"),
            Err(error) => assert!(bit < (index_at + 8) * 8, "bit {bit}: {error}"),
        }
    }
}

#[test]
fn damage_is_reported_where_it_is_read() {
    let content = pages::text(300_000, 7);
    let options = FrameOptions {
        block_checksums: true,
        ..INDEXED
    };
    let mut file = compress(&content, &options).expect("compresses");
    file[20] ^= 1;
    let (mut frame, _) = open(&file);
    let error = frame
        .read_range(0..10)
        .expect_err("the first block is damaged");
    let source = error.get_ref().and_then(|source| source.downcast_ref());
    assert!(
        matches!(source, Some(Error::ChecksumMismatch { what: "block", .. })),
        "{error}"
    );
    assert!(frame.read_range(70_000..70_100).expect("another block") == content[70_000..70_100]);
    file[20] ^= 1;
    file[7] ^= 1;
    let (mut frame, _) = open(&file);
    let error = frame
        .read_range(0..10)
        .expect_err("is not what the index says");
    assert!(error.to_string().contains("index"), "{error}");
    // Without an index, damage ends the readable content, and every further call reports it.
    let mut plain =
        compress(&pages::text(3_000_000, 8), &FrameOptions::default()).expect("compresses");
    let middle = plain.len() - 1000;
    plain[middle..].fill(0xff);
    let (mut frame, _) = open(&plain);
    assert_eq!(
        frame
            .read_range(1000..2000)
            .expect("is before the damage")
            .len(),
        1000
    );
    for _ in 0..2 {
        frame.content_bytes().expect_err("is damaged");
        frame.read_range(0..u64::MAX).expect_err("is damaged");
    }
    assert_eq!(
        frame
            .read_range(1000..2000)
            .expect("is before the damage")
            .len(),
        1000
    );
    let nothing = SeekableFrame::open(Cursor::new(Vec::new())).expect_err("is no frame");
    assert_eq!(nothing.kind(), io::ErrorKind::UnexpectedEof);
    let no_frame = SeekableFrame::open(Cursor::new(content)).expect_err("is no frame");
    assert_eq!(no_frame.kind(), io::ErrorKind::InvalidData);
}
