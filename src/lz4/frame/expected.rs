//! An estimate of the content of frames in memory, for native targets.
//!
//! Memory that grows in steps is moved: its huge pages become small ones, or its bytes are copied. So a result gets its memory
//! at once, of which the system makes resident what is written.

use super::read::{Peek, Piece};
use super::{FrameHeader, FrameReader};
use crate::lz4::decode::decode_with;
use crate::lz4::{Dictionary, MAX_PAGE_SIZE};
use crate::memory;

/// Most expected content as a multiple of the frames. Blocks may claim to hold 255 times their bytes, and hold little.
const MOST_RATIO: u64 = 8;

/// Returns about the bytes of content of `frames`: as many as there are if all blocks of a frame, except the last, have as many
/// as the first, but at most 8 times the bytes of `frames`.
pub(crate) fn expected_content(frames: &[u8], dictionary: Option<&Dictionary>) -> u64 {
    let mut reader = FrameReader::new().with_dictionary(dictionary.cloned());
    let mut frame: Option<(FrameHeader, Option<usize>)> = None;
    let (mut at, mut expected) = (0, 0u64);
    while let Some(rest) = frames.get(at..).filter(|rest| !rest.is_empty()) {
        let Ok(Peek::Piece(piece, n_piece)) = reader.peek(rest) else {
            break;
        };
        reader.pass(piece, n_piece);
        at = at.saturating_add(n_piece);
        match (piece, &mut frame) {
            (Piece::Header(header), _) => frame = Some((header, None)),
            (Piece::Block(size), Some((header, slot))) => {
                let most = size.max_content(header);
                let block = rest.get(super::WORD_BYTES..).unwrap_or_default();
                let block = block.get(..size.n_bytes()).unwrap_or_default();
                let slot = *slot.get_or_insert_with(|| match size.is_compressed() {
                    true => first_content(header, block, most, dictionary),
                    false => most,
                });
                expected = expected.saturating_add(most.min(slot) as u64);
            }
            (Piece::Skippable { length, .. }, _) => at = at.saturating_add(length as usize),
            (Piece::Block(_) | Piece::End, _) => {}
        }
    }
    expected.min(MOST_RATIO * frames.len() as u64)
}

/// Returns the bytes of content of the first block of a frame. Larger blocks than pages are full, and are not decoded for this.
fn first_content(
    header: &FrameHeader,
    block: &[u8],
    most: usize,
    dictionary: Option<&Dictionary>,
) -> usize {
    if header.linked || header.block_max_size > MAX_PAGE_SIZE {
        return most;
    }
    let decoded = memory::zeros(most);
    let decoded = decoded.map(|mut content| decode_with(block, &mut content, 0, dictionary));
    decoded.map_or(most, |n_bytes| n_bytes.unwrap_or(most))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::expected_content;
    use crate::lz4::frame::{FrameOptions, compress};

    fn framed(n_bytes: usize, block_size: u32) -> Vec<u8> {
        let content: Vec<u8> = (0..n_bytes).map(|i| ((i * i) >> 9) as u8).collect();
        let options = FrameOptions {
            block_size,
            ..FrameOptions::default()
        };
        compress(&content, &options).expect("in range")
    }

    #[test]
    fn content_of_equal_blocks_is_expected_to_the_byte() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], &[0; 3]].concat();
        let frames = [
            framed(65_536, 4096),
            skippable,
            framed(1 << 20, 65_536),
            framed(0, 4096),
            framed(2 << 20, 1 << 20),
        ];
        assert_eq!(expected_content(&frames.concat(), None), 65_536 + (3 << 20));
        let odd = expected_content(&framed(50_000, 4096), None);
        assert!((50_000..=53_248).contains(&odd), "{odd}");
    }

    #[test]
    fn claims_of_blocks_do_not_count_without_limit() {
        let mut frame = framed(70_000, 65_536);
        for n_bytes in 0..frame.len().min(2000) {
            expected_content(&frame[..n_bytes], None);
        }
        let block = |word: u32, data: &[u8]| [&word.to_le_bytes()[..], data].concat();
        frame.truncate(frame.len() - 8);
        frame.extend(block(200, &[0; 200]).repeat(1000));
        assert!(expected_content(&frame, None) <= 8 * frame.len() as u64);
    }
}
