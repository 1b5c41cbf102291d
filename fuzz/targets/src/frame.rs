//! Frames, compared with liblz4.

use pagepress::Error;
use pagepress::lz4::BlockError;
use pagepress::lz4::frame::decompress;

use super::LIMIT;
use super::random::{Random, mutated};
use super::repair::repair_frame;

/// Frames per execution: the input, and mutations of it with repaired checksums.
pub const INPUTS: u64 = 16;

/// Decodes frames, and inputs of a single frame also with liblz4: both reject it, or both return the same content.
///
/// Intended differences: this crate rejects a frame that states a dictionary id, liblz4 only if a match reaches into
/// the dictionary; this crate reads a block that breaks the end-of-block rules for encoders (for example fewer than
/// five final literals), liblz4 only sometimes; offset 0, which the format forbids, is an error here and arbitrary
/// bytes in liblz4; a content size of 0 in the header counts as a size here and as none in liblz4.
pub fn frame(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    one(data.to_vec(), false);
    for i in 1..INPUTS {
        let bytes = mutated(data, &mut random);
        one(bytes, i % 4 != 0);
    }
    INPUTS
}

fn one(mut bytes: Vec<u8>, repaired: bool) {
    let whole = decompress(&bytes, Some(LIMIT));
    if let Ok(content) = &whole {
        assert!(content.len() as u64 <= LIMIT);
    }
    let mut copy = bytes.clone();
    let Some(walked) = repair_frame(&mut copy, 0) else {
        return;
    };
    if repaired {
        bytes = copy;
    }
    bytes.truncate(walked.end);
    if repaired
        && let Some(at) = walked.content_checksum
        && let Err(Error::ChecksumMismatch {
            what: "content",
            computed,
            ..
        }) = decompress(&bytes, Some(LIMIT))
    {
        bytes[at..at + 4].copy_from_slice(&computed.to_le_bytes());
    }
    compare(&bytes, walked.breaks_encoder_rules);
}

fn compare(bytes: &[u8], breaks_encoder_rules: bool) {
    let ours = decompress(bytes, Some(LIMIT));
    if matches!(
        ours,
        Err(Error::OutputLimit { .. } | Error::DictionaryNeeded { .. })
    ) {
        return;
    }
    let mut content = Vec::new();
    let theirs = lzzzz::lz4f::decompress_to_vec(bytes, &mut content);
    match (&ours, &theirs) {
        (Ok(ours), Ok(_)) => assert!(*ours == content, "other content"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(_)) if breaks_encoder_rules => {}
        (Err(Error::ContentSizeMismatch { stored: 0, .. }), Ok(_)) => {}
        (Err(Error::CorruptPage { source, .. }), Ok(_)) if *source == BlockError::ZeroOffset => {}
        (Ok(ours), Err(error)) => panic!("liblz4 refuses {} bytes: {error}", ours.len()),
        (Err(error), Ok(n)) => panic!("liblz4 gives {n} bytes: {error}"),
    }
}
