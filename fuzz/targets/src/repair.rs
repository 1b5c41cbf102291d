//! Repairs the checksums of mutated frames, so that mutations reach the code behind the checksum tests.

use pagepress::lz4::frame::{INDEX_SIGNATURE, MAGIC};
use twox_hash::XxHash32;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*word))
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    if let Some(to) = bytes.get_mut(at..at + 4) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

/// Byte positions of the parts of a frame.
pub struct Walked {
    /// First byte after the frame.
    pub end: usize,
    /// The checksum of the content.
    pub content_checksum: Option<usize>,
    /// True if a compressed block breaks the end-of-block rules for encoders.
    pub breaks_encoder_rules: bool,
}

/// Returns true if a block breaks a rule for encoders that liblz4's decoder relies on and this decoder does not: the
/// last five bytes are literals, and the last match begins at least twelve bytes before the end.
fn breaks_encoder_rules(block: &[u8]) -> bool {
    let (mut at, mut written, mut last_match) = (0, 0usize, None);
    let long = |at: &mut usize, start: u8| {
        let mut n = usize::from(start);
        let mut last = if start == 15 { 255 } else { 0 };
        while last == 255 {
            last = *block.get(*at)?;
            *at += 1;
            n += usize::from(last);
        }
        Some(n)
    };
    let mut sequence = || {
        let token = *block.get(at)?;
        at += 1;
        let n_literals = long(&mut at, token >> 4)?;
        at += n_literals;
        written += n_literals;
        if at >= block.len() {
            return Some(Some(n_literals));
        }
        at += 2;
        last_match = Some(written);
        written += long(&mut at, token & 15)? + 4;
        Some(None)
    };
    loop {
        match sequence() {
            Some(None) => {}
            Some(Some(n_literals)) => {
                return last_match.is_some_and(|at| n_literals < 5 || written - at < 12);
            }
            None => return false,
        }
    }
}

/// Repairs the checksums of the header and of the blocks of the frame at `start`; returns its parts, or `None` if it
/// has no end or is not a frame.
pub fn repair_frame(bytes: &mut [u8], start: usize) -> Option<Walked> {
    if word(bytes, start)? != MAGIC {
        return None;
    }
    let flags = *bytes.get(start + 4)?;
    let mut at = start + 6;
    at += if flags & 8 == 0 { 0 } else { 8 };
    at += if flags & 1 == 0 { 0 } else { 4 };
    let sum = (XxHash32::oneshot(0, bytes.get(start + 4..at)?) >> 8) as u8;
    *bytes.get_mut(at)? = sum;
    at += 1;
    let mut oddly = false;
    loop {
        let size = word(bytes, at)?;
        at += 4;
        if size == 0 {
            break;
        }
        let n = (size & !(1 << 31)) as usize;
        let block = at..at.checked_add(n)?;
        at = block.end;
        let block = bytes.get(block)?;
        oddly |= size >> 31 == 0 && breaks_encoder_rules(block);
        let sum = XxHash32::oneshot(0, block);
        if flags & 16 != 0 {
            put(bytes, at, sum);
            at += 4;
        }
    }
    let content_checksum = (flags & 4 != 0).then_some(at);
    at += if flags & 4 == 0 { 0 } else { 4 };
    (at <= bytes.len()).then_some(Walked {
        end: at,
        content_checksum,
        breaks_encoder_rules: oddly,
    })
}

/// Repairs the checksums of all frames and indexes; those of contents from the decoder's output.
pub fn repair_file(bytes: &mut [u8]) {
    let mut start = 0;
    while let Some(magic) = word(bytes, start) {
        if magic == MAGIC {
            let Some(walked) = repair_frame(bytes, start) else {
                return;
            };
            if let Some(at) = walked.content_checksum {
                let frame = &bytes[start..walked.end];
                let found = pagepress::lz4::frame::decompress(frame, Some(super::LIMIT));
                if let Err(pagepress::Error::ChecksumMismatch {
                    what: "content",
                    computed,
                    ..
                }) = found
                {
                    put(bytes, at, computed);
                }
            }
            start = walked.end;
        } else if magic & 0xffff_fff0 == 0x184d_2a50 {
            let Some(length) = word(bytes, start + 4) else {
                return;
            };
            let end = (start + 8).saturating_add(length as usize);
            repair_index(bytes, start, end);
            start = end;
        } else {
            return;
        }
    }
}

fn repair_index(bytes: &mut [u8], start: usize, end: usize) {
    let Some(body) = bytes.get(start + 8..end).filter(|body| body.len() >= 28) else {
        return;
    };
    if body.ends_with(&INDEX_SIGNATURE) {
        let sum = XxHash32::oneshot(0, &body[..body.len() - 8]);
        put(bytes, end - 8, sum);
    }
}
