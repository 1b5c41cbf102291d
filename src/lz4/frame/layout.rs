//! The positions of the blocks of a frame, from its sizes alone.

use super::read::{Peek, Piece};
use super::{BlockSize, FrameHeader, FrameReader, WORD_BYTES, word};
use crate::{Result, memory};

/// Most bytes of magic number and descriptor of a frame.
const MAX_HEADER_BYTES: usize = 19;

/// The structure of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameLayout {
    pub header: FrameHeader,
    /// The size field of each block and its offset in the frame.
    pub blocks: Vec<(u64, BlockSize)>,
    /// Offset of the end mark.
    pub end: u64,
    /// The checksum of the content, if the frame has one. It is not verified.
    pub content_checksum: Option<u32>,
}

impl FrameLayout {
    /// Returns the layout of `n_bytes` bytes, from which `read` copies some that start at an offset.
    ///
    /// `None` unless the bytes are one whole frame, which is not a legacy frame, with a header that `accept` accepts.
    ///
    /// # Errors
    /// Those of `read`, and [`OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn read(
        n_bytes: usize,
        read: impl Fn(usize, &mut [u8]) -> Result<()>,
        accept: impl FnOnce(&FrameHeader) -> bool,
    ) -> Result<Option<Self>> {
        let mut reader = FrameReader::new();
        let mut at = 0;
        let mut next = |n_peeked: usize| -> Result<Option<(usize, Piece, Option<u32>)>> {
            let mut start = [0; MAX_HEADER_BYTES];
            let start = &mut start[..n_peeked.min(n_bytes - at)];
            read(at, start)?;
            let Ok(Peek::Piece(piece, total)) = reader.peek(start) else {
                return Ok(None);
            };
            if total > n_bytes - at {
                return Ok(None);
            }
            reader.pass(piece, total);
            at += total;
            Ok(Some((
                at - total,
                piece,
                word(&start[..total.min(start.len())], WORD_BYTES),
            )))
        };
        let Some((_, Piece::Header(header), _)) = next(MAX_HEADER_BYTES)? else {
            return Ok(None);
        };
        if header.legacy || !accept(&header) {
            return Ok(None);
        }
        let mut blocks = Vec::new();
        loop {
            match next(2 * WORD_BYTES)? {
                Some((at, Piece::Block(size), _)) => {
                    memory::reserve(&mut blocks, 1)?;
                    blocks.push((at as u64, size));
                }
                Some((end, Piece::End, content_checksum)) => {
                    return Ok((at == n_bytes).then_some(Self {
                        header,
                        blocks,
                        end: end as u64,
                        content_checksum,
                    }));
                }
                _ => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::lz4::frame::{FrameOptions, LEGACY_MAGIC, compress};

    fn layout(bytes: &[u8]) -> Option<FrameLayout> {
        let read = |at: usize, to: &mut [u8]| {
            to.copy_from_slice(&bytes[at..at + to.len()]);
            Ok(())
        };
        FrameLayout::read(bytes.len(), read, |_| true).expect("memory for a test")
    }

    #[test]
    fn blocks_are_found_by_their_sizes_alone() {
        let content: Vec<u8> = (0..3_000_000u32)
            .map(|i| (i.wrapping_mul(i) >> 11) as u8)
            .collect();
        for block_checksums in [false, true] {
            let options = FrameOptions {
                block_size: 1 << 20,
                block_checksums,
                content_size: Some(3_000_000),
                ..FrameOptions::default()
            };
            let mut frame = compress(&content, &options).expect("in range");
            // Blocks are not read, so it does not matter what they contain.
            frame[100] ^= 1;
            let found = layout(&frame).expect("a frame");
            assert_eq!(found.header.content_size, Some(3_000_000));
            assert_eq!(found.content_checksum, word(&frame, frame.len() - 4));
            let ends = found
                .blocks
                .iter()
                .map(|(at, size)| at + size.framed_bytes(block_checksums) as u64);
            let starts = found
                .blocks
                .iter()
                .map(|&(at, _)| at)
                .skip(1)
                .chain([found.end]);
            assert!(found.blocks.len() == 3 && ends.eq(starts));
            assert_eq!(found.end as usize + 8, frame.len());
        }
    }

    #[test]
    fn other_bytes_have_no_layout() {
        let frame = compress(&[7; 100_000], &FrameOptions::default()).expect("in range");
        assert!(layout(&frame).is_some());
        for n_bytes in 0..frame.len() {
            assert_eq!(layout(&frame[..n_bytes]), None, "{n_bytes} bytes");
        }
        assert_eq!(layout(&[&frame[..], &frame[..]].concat()), None);
        let legacy = [&LEGACY_MAGIC.to_le_bytes()[..], &[1, 0, 0, 0, 0]].concat();
        assert_eq!(layout(&legacy), None);
    }
}
