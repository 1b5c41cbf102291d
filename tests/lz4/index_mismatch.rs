//! Indexes that contradict their files, with valid checksums: a part of the content is the same as without the index,
//! or an error.

use std::io::{Cursor, Read};
use std::ops::Range;

use crate::common::pages::{self, Random};
use pagepress::lz4::frame::{
    FrameMap, FrameOptions, INDEX_MAGIC, INDEX_SIGNATURE, SeekableFrame, compress, decompress,
};

const STORED: u32 = 1 << 31;

/// The fields of an index.
#[derive(Debug, Clone)]
struct Index {
    /// Size fields and content sizes in bytes.
    entries: Vec<[u32; 2]>,
    header_bytes: u16,
    /// 1 for block checksums, 2 for a content checksum.
    flags: u16,
    /// Bytes of the frame; computed from the other fields unless given.
    frame_bytes: Option<u64>,
}

impl Index {
    fn frame_bytes(&self) -> u64 {
        let checksum = u64::from(self.flags & 1) * 4;
        let sizes = self
            .entries
            .iter()
            .map(|[size, _]| u64::from(size & !STORED));
        let blocks: u64 = sizes.map(|size| 4 + size + checksum).sum();
        u64::from(self.header_bytes) + blocks + 4 + u64::from(self.flags & 2) * 2
    }

    fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(
            self.entries
                .iter()
                .flatten()
                .flat_map(|word| word.to_le_bytes()),
        );
        let frame_bytes = self.frame_bytes.unwrap_or_else(|| self.frame_bytes());
        body.extend(frame_bytes.to_le_bytes());
        body.extend((self.entries.len() as u32).to_le_bytes());
        body.extend(1_u32.to_le_bytes());
        body.extend(self.header_bytes.to_le_bytes());
        body.extend(self.flags.to_le_bytes());
        body.extend(twox_hash::XxHash32::oneshot(0, &body).to_le_bytes());
        body.extend(INDEX_SIGNATURE);
        let head = [INDEX_MAGIC.to_le_bytes(), (body.len() as u32).to_le_bytes()];
        [&head.concat(), &body[..]].concat()
    }
}

fn header(flags: u8) -> Vec<u8> {
    let mut header = vec![0x04, 0x22, 0x4d, 0x18, flags, 0x40];
    header.push((twox_hash::XxHash32::oneshot(0, &header[4..]) >> 8) as u8);
    header
}

fn stored(data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32 | STORED).to_le_bytes(), data].concat()
}

/// Returns a frame of independent, stored blocks.
fn frame(blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = header(0x60);
    blocks.iter().for_each(|block| frame.extend(stored(block)));
    frame.extend([0; 4]);
    frame
}

/// Asserts that every part that a reader returns is a part of the whole content.
fn assert_parts_of_the_content(file: &[u8], ranges: &[Range<u64>]) -> (usize, usize) {
    let whole = decompress(file, None);
    let (mut n_same, mut n_errors) = (0, 0);
    let Ok(mut part) = SeekableFrame::open(Cursor::new(file)) else {
        return (0, 1);
    };
    for range in ranges {
        let Ok(read) = part.read_range(range.clone()) else {
            n_errors += 1;
            continue;
        };
        let whole = whole
            .as_ref()
            .expect("content that is read in parts is sound");
        let end = range.end.min(whole.len() as u64) as usize;
        let expected = whole.get(range.start as usize..end).unwrap_or_default();
        assert!(read == expected, "{range:?}: {read:?}, not {expected:?}");
        n_same += 1;
    }
    (n_same, n_errors)
}

const RANGES: [Range<u64>; 5] = [0..5, 0..1000, 3..17, 30..60, 100..200];

/// The blocks of the index lie inside the single block of the file.
#[test]
fn a_longer_header_than_that_of_the_file() {
    let inner = stored(b"what only an index shows");
    let outer = [b"what all programs show, and then: ", &inner[..]].concat();
    let mut file = frame(&[&outer]);
    let index = Index {
        entries: vec![[24 | STORED, 24]],
        header_bytes: (file.len() - 4 - inner.len()) as u16,
        flags: 0,
        frame_bytes: None,
    };
    assert_eq!(index.frame_bytes(), file.len() as u64);
    file.extend(index.bytes());
    assert_eq!(assert_parts_of_the_content(&file, &RANGES), (5, 0));
    // The same without a comparison of block sizes.
    let mut map = FrameMap::trusting(file.len() as u64);
    while let Some(range) = map.wanted(u64::MAX) {
        let part = &file[range.start as usize..range.end as usize];
        map.supply(part).expect("is sound");
    }
    assert!(!map.has_index());
    assert_eq!(map.content_bytes(), Some(outer.len() as u64));
}

/// The second block of the index lies inside the first block of the file.
#[test]
fn blocks_at_other_positions_than_in_the_file() {
    let inner = stored(b"what only an index shows");
    let mut outer = b"what all programs show".to_vec();
    let n_before = outer.len() as u32;
    outer.extend(&inner);
    let mut file = frame(&[&outer, b"the end"]);
    let index = Index {
        entries: vec![
            [n_before | STORED, n_before],
            [24 | STORED, 24],
            [7 | STORED, 7],
        ],
        header_bytes: 7,
        flags: 0,
        frame_bytes: None,
    };
    assert_eq!(index.frame_bytes(), file.len() as u64);
    file.extend(index.bytes());
    let (n_same, n_errors) = assert_parts_of_the_content(&file, &RANGES);
    assert!(n_same < 2 && n_errors > 3, "{n_same} {n_errors}");
    // Sequential reads return no more content, and no other.
    let mut part = SeekableFrame::open(Cursor::new(&file)).expect("opens");
    for _ in 0..3 {
        part.read_range(30..40)
            .expect_err("the second block is none");
        part.read_exact(&mut [0; 30])
            .expect_err("nor is it to be read");
    }
}

/// The index describes a frame inside a skippable frame, which other readers skip.
#[test]
fn a_frame_inside_a_skippable_frame() {
    let hidden = frame(&[b"what only an index shows"]);
    let index = Index {
        entries: vec![[24 | STORED, 24]],
        header_bytes: 7,
        flags: 0,
        frame_bytes: None,
    };
    let hidden = [hidden, index.bytes()].concat();
    let mut file = frame(&[b"what all programs show"]);
    file.extend([0x50, 0x2a, 0x4d, 0x18]);
    file.extend((hidden.len() as u32).to_le_bytes());
    file.extend(&hidden);
    assert_eq!(assert_parts_of_the_content(&file, &RANGES), (5, 0));
    // Of two frames, the index of the second describes the second only.
    let file = [frame(&[b"what all programs show"]), hidden].concat();
    assert_eq!(assert_parts_of_the_content(&file, &RANGES), (5, 0));
}

/// Descriptors with other checksums, links, content size or largest block size.
#[test]
fn other_flags_than_those_of_the_file() {
    let text = b"01234567890123456789012345678901234567890123456789";
    for (flags, index_flags, header_bytes) in [
        (0x60, 1, 7),
        (0x60, 2, 7),
        (0x64, 0, 7),
        (0x70, 0, 7),
        (0x40, 0, 7),
        (0x60, 0, 6),
        (0x60, 0, 15),
    ] {
        let mut file = header(flags);
        file.extend(stored(text));
        if flags & 0x10 != 0 {
            file.extend(twox_hash::XxHash32::oneshot(0, text).to_le_bytes());
        }
        file.extend([0; 4]);
        if flags & 4 != 0 {
            file.extend(twox_hash::XxHash32::oneshot(0, text).to_le_bytes());
        }
        let index = Index {
            entries: vec![[50 | STORED, 50]],
            header_bytes,
            flags: index_flags,
            frame_bytes: None,
        };
        file.extend(index.bytes());
        let (n_same, n_errors) = assert_parts_of_the_content(&file, &RANGES);
        assert_eq!((n_same, n_errors), (5, 0), "{flags:x}, {index_flags}");
    }
}

/// Every number of an index that the file states too is changed once, in files of one and several frames, to near and
/// to large values.
#[test]
fn many_wrong_indexes() {
    let mut random = Random::new(3);
    let (mut n_same, mut n_errors) = (0, 0);
    for i in 0..3000 {
        let mut file = Vec::new();
        for n in 0..1 + i % 3 {
            let content = pages::mixed(if i % 50 == 0 { 300_000 } else { 9000 }, n as u64);
            let options = FrameOptions {
                block_size: 4096,
                content_checksum: random.below(2) == 0,
                block_checksums: random.below(2) == 0,
                content_size: (random.below(2) == 0).then_some(content.len() as u64),
                index: true,
                ..FrameOptions::default()
            };
            file.extend(compress(&content, &options).expect("in range"));
        }
        let mut index = index_at_end(&mut file);
        let entry = random.below(index.entries.len());
        for _ in 0..1 + random.below(2) {
            let entry = entry.min(index.entries.len() - 1);
            match random.below(7) {
                0 => index.header_bytes = [7, 15, 8, random.below(40) as u16][random.below(4)],
                1 => index.flags = random.below(4) as u16,
                2 => index.entries[entry][0] = random.below(9000) as u32 | STORED,
                3 => index.entries[entry][0] ^= 1 << random.below(12),
                4 => drop(index.entries.remove(entry)),
                5 => index.entries.swap(0, entry),
                // Bytes move from one block to another, so that the total stays the same.
                _ => {
                    let n_bytes = 1 + random.below(20) as u32;
                    let last = index.entries.len() - 1;
                    index.entries[0][0] = index.entries[0][0].wrapping_add(n_bytes);
                    index.entries[last][0] = index.entries[last][0].wrapping_sub(n_bytes);
                }
            }
            if index.entries.is_empty() {
                break;
            }
        }
        index.frame_bytes = None;
        file.extend(index.bytes());
        let ranges = [
            0..10,
            5000..5010,
            8990..20_000,
            100_000..100_100,
            0..1 << 40,
        ];
        let counts = assert_parts_of_the_content(&file, &ranges);
        n_same += counts.0;
        n_errors += counts.1;
    }
    assert!(n_same > 1000 && n_errors > 1000, "{n_same}, {n_errors}");
}

/// Removes the index from the end of `file` and returns it.
fn index_at_end(file: &mut Vec<u8>) -> Index {
    let word = |at: usize| u32::from_le_bytes(*file[at..].first_chunk().expect("is there"));
    let footer = file.len() - 28;
    let n_blocks = word(footer + 8) as usize;
    let start = footer - 8 * n_blocks;
    let index = Index {
        entries: (0..n_blocks)
            .map(|i| [word(start + 8 * i), word(start + 8 * i + 4)])
            .collect(),
        header_bytes: word(footer + 16) as u16,
        flags: (word(footer + 16) >> 16) as u16,
        frame_bytes: None,
    };
    file.truncate(start - 8);
    index
}

/// A wrong content size, which only decoding can show, is detected when the block is decoded.
#[test]
fn another_content_size_than_that_of_the_block() {
    let content = vec![7; 20_000];
    let options = FrameOptions {
        block_size: 4096,
        index: true,
        ..FrameOptions::default()
    };
    let mut file = compress(&content, &options).expect("in range");
    let mut index = index_at_end(&mut file);
    index.entries[1][1] -= 1;
    file.extend(index.bytes());
    let mut part = SeekableFrame::open(Cursor::new(&file)).expect("opens");
    assert!(part.read_range(0..4096).expect("reads") == content[..4096]);
    part.read_range(4000..5000)
        .expect_err("the second block is longer");
}

/// Thousands of small frames with an index each: each index is read once, not once for each frame after it.
#[test]
fn many_frames_with_an_index_are_read_once() {
    let options = FrameOptions {
        index: true,
        ..FrameOptions::default()
    };
    let file = compress(b"a few bytes of content", &options)
        .expect("in range")
        .repeat(5000);
    let mut map = FrameMap::new(file.len() as u64);
    let mut n_bytes = 0;
    while let Some(range) = map.wanted(u64::MAX) {
        n_bytes += range.end - range.start;
        map.supply(&file[range.start as usize..range.end as usize])
            .expect("is sound");
    }
    assert!(map.has_index());
    assert_eq!(map.content_bytes(), Some(22 * 5000));
    assert!(
        n_bytes < 2 * file.len() as u64,
        "{n_bytes} of {}",
        file.len()
    );
}
