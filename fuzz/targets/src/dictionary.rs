//! Blocks and frames with a dictionary.

use std::ops::ControlFlow;

use pagepress::lz4::frame::{FrameOptions, SeekableFrame, compress};
use pagepress::lz4::{Dictionary, Encoder, Level, Parse, decompress_block};

use super::LIMIT;
use super::random::{Random, mutated};

/// Inputs per execution: splits of the bytes into a dictionary and a block, a frame or content, with mutations.
pub const INPUTS: u64 = 24;

const LEVELS: [Level; 3] = [Level::Fast, Level::High, Level::Sequential];
const SIZES: [u32; 4] = [4096, 16_384, 65_536, 1 << 20];

/// Splits the bytes into a dictionary and a rest. The rest as a block decodes to what liblz4 says, or not at all; as a frame it is the
/// same to every reader; as content it returns, at every level.
pub fn dictionary(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    for i in 0..INPUTS {
        let bytes = match i {
            0 => data.to_vec(),
            _ => mutated(data, &mut random),
        };
        let (first, rest) = bytes.split_at(random.below(bytes.len() + 1));
        // Often long, so that offsets of two bytes are inside.
        let repeats = [1, 1, 1 + random.below(200)][random.below(3)];
        let dictionary = Dictionary::with_id(&first.repeat(repeats), random.below(2) as u32);
        match i % 3 {
            0 => block(rest, &dictionary, &mut random),
            1 => frame(rest, &dictionary),
            _ => content(rest, &dictionary, &mut random),
        }
    }
    INPUTS
}

/// Decodes a block: without bytes the dictionary changes nothing, and what decodes also decodes to the same with liblz4.
fn block(block: &[u8], dictionary: &Dictionary, random: &mut Random) {
    let before = dictionary.as_bytes();
    let n_bytes = random.below(5000);
    let mut page = vec![0xa5; n_bytes];
    let status = dictionary.decompress_block(block, &mut page);
    if before.is_empty() {
        let mut alone = vec![0x5a; n_bytes];
        assert_eq!(decompress_block(block, &mut alone), status);
        assert!(alone == page);
    }
    if status.is_err() {
        assert!(
            page.iter().all(|&byte| byte == 0),
            "a page that fails is zeros"
        );
        return;
    }
    let mut theirs = vec![0x5a; n_bytes];
    let n_theirs = lzzzz::lz4::decompress_with_dict(block, &mut theirs, before);
    if n_theirs.is_ok_and(|n| n == n_bytes) {
        assert!(theirs == page, "liblz4 gives other content");
    }
}

fn frame(frame: &[u8], dictionary: &Dictionary) {
    let whole = dictionary.decompress_frame(frame, Some(LIMIT));
    let mut out = Vec::new();
    let goes_on = |_| ControlFlow::Continue(());
    let reader = std::io::Cursor::new(frame.to_vec());
    let streamed = dictionary.decompress_stream(reader, &mut out, Some(LIMIT), goes_on);
    assert_eq!(whole.is_ok(), streamed.is_ok());
    let opened = std::io::Cursor::new(frame);
    let opened = SeekableFrame::open_with_dictionary(opened, dictionary.clone());
    let Ok(whole) = whole else {
        return;
    };
    assert!(out == whole);
    if let Ok(mut file) = opened
        && let Ok(content) = file.read_range(0..LIMIT)
    {
        assert!(content == whole);
    }
}

fn content(content: &[u8], dictionary: &Dictionary, random: &mut Random) {
    // Content of which much is in the dictionary.
    let before = dictionary.as_bytes();
    let from = random.below(before.len() + 1);
    let copied = &before[from..(from + random.below(3000)).min(before.len())];
    let content = [content, copied, content].concat();
    for level in LEVELS {
        let size = SIZES[random.below(SIZES.len())];
        let block = &content[..content.len().min(size as usize)];
        let parse = Parse::new(size, level).unwrap();
        let mut first: Option<Vec<u8>> = None;
        for mut encoder in Encoder::for_all_instructions(&parse, Some(dictionary)) {
            let mut out = Vec::new();
            encoder.compress_block(block, &mut out).unwrap();
            assert!(
                *first.get_or_insert_with(|| out.clone()) == out,
                "other bytes"
            );
        }
        let out = first.unwrap();
        let mut page = vec![0xa5; block.len()];
        assert_eq!(dictionary.decompress_block(&out, &mut page), Ok(()));
        assert!(page == block);
        if !block.is_empty() {
            page.fill(0xa5);
            let n_theirs = lzzzz::lz4::decompress_with_dict(&out, &mut page, before);
            assert!(n_theirs.is_ok_and(|n| n == block.len()) && page == block);
        }
    }
    let options = FrameOptions {
        block_size: 4096,
        dictionary: Some(dictionary.clone()),
        ..FrameOptions::default()
    };
    let frame = compress(&content, &options).unwrap();
    assert!(dictionary.decompress_frame(&frame, None).unwrap() == content);
}
