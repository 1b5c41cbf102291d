//! Frames, compared with liblz4.

use pagepress::Error;
use pagepress::lz4::BlockError;
use pagepress::lz4::frame::decompress;

use super::random::{Random, mutated};
use super::repair::repair_frame;

/// Frames of an execution: the one given, and mutations of it with checksums made right.
pub const INPUTS: u64 = 16;

/// Content that a frame may have here.
pub const LIMIT: u64 = 8 << 20;

/// Decodes frames, and what is one frame also with liblz4: both refuse it, or both give the same content.
///
/// Differences that are meant: a frame that needs a dictionary is refused here at once, and by liblz4 only where it reads
/// from it; a block that ends otherwise than encoders must end them, with fewer than five literals for instance, is read
/// here, and by liblz4 only sometimes; a match of offset 0, which the format forbids, is an error here, and anything to
/// liblz4; a content size of 0 in the header is a size here, and none to liblz4.
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
    compare(&bytes, walked.ends_oddly);
}

fn compare(bytes: &[u8], ends_oddly: bool) {
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
        (Ok(_), Err(_)) if ends_oddly => {}
        (Err(Error::ContentSizeMismatch { stored: 0, .. }), Ok(_)) => {}
        (Err(Error::CorruptPage { source, .. }), Ok(_)) if *source == BlockError::ZeroOffset => {}
        (Ok(ours), Err(error)) => panic!("liblz4 refuses {} bytes: {error}", ours.len()),
        (Err(error), Ok(n)) => panic!("liblz4 gives {n} bytes: {error}"),
    }
}
