//! Random access to files with valid checksums, with and without an index.

use std::io::Cursor;

use pagepress::lz4::Level;
use pagepress::lz4::frame::{FrameOptions, SeekableFrame, compress, decompress};

use super::LIMIT;
use super::random::{Random, mutated};
use super::repair::repair_file;

/// Files per execution: the input, a file made from it, and mutations of both.
pub const INPUTS: u64 = 8;

/// Reads parts of files: a part equals the same range of the decoded file. If not all parts can be read, the index
/// states a wrong content size of a block, which shows when that block is read.
pub fn seek(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    let made = file(data, &mut random);
    one(data, &mut random);
    one(&made, &mut random);
    for i in 2..INPUTS {
        let mut bytes = mutated(if i % 3 == 0 { data } else { &made }, &mut random);
        repair_file(&mut bytes);
        one(&bytes, &mut random);
    }
    INPUTS
}

/// Returns one to three frames of the bytes.
fn file(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = Vec::new();
    for _ in 0..=random.below(3) {
        let start = random.below(data.len());
        let content = data[start..].repeat(1 + random.below(40));
        let options = FrameOptions {
            block_size: [4096, 5000, 65_536][random.below(3)],
            level: Level::Sequential,
            content_checksum: random.below(2) == 0,
            block_checksums: random.below(2) == 0,
            content_size: (random.below(2) == 0).then_some(content.len() as u64),
            index: random.below(4) != 0,
            dictionary: None,
        };
        file.extend(compress(&content, &options).unwrap());
    }
    file
}

fn one(bytes: &[u8], random: &mut Random) {
    let whole = decompress(bytes, Some(LIMIT));
    let Ok(mut parts) = SeekableFrame::open(Cursor::new(bytes)) else {
        return;
    };
    let Ok(n) = parts.content_bytes() else {
        return;
    };
    let Ok(whole) = whole else {
        // No part can verify the content checksum, so ranges are readable even if it is wrong.
        let _ = parts.read_range(0..n.min(LIMIT));
        let _ = parts.read_range(n.saturating_sub(100)..n);
        return;
    };
    // Content sizes of an index are trusted until their block is decoded, which detects a wrong one.
    let all = parts.read_range(0..n);
    if parts.has_index() && all.is_err() {
        return;
    }
    assert!(
        all.is_ok_and(|all| all == whole),
        "{n} bytes instead of {}, or others: {bytes:02x?}",
        whole.len()
    );
    for _ in 0..4 {
        let start = random.below(whole.len() + 2);
        let end = start + random.below(whole.len() + 2);
        let expected = &whole[start.min(whole.len())..end.min(whole.len())];
        let part = parts.read_range(start as u64..end as u64);
        assert!(
            part.is_ok_and(|part| part == expected),
            "other content in {start}..{end}"
        );
    }
}
