//! The positions of the blocks of a frame, from its sizes alone.

use super::header::MAX_HEADER_BYTES;
use super::read::{Peek, Piece};
use super::{BlockSize, FrameHeader, FrameReader, WORD_BYTES, word};
use crate::Result;
use crate::lz4::Dictionary;

/// Copies bytes that start at an offset.
pub(crate) type ReadAt<'a> = &'a dyn Fn(usize, &mut [u8]) -> Result<()>;

/// Receives the offset of the size field of a block, and the size.
pub(crate) type OnBlock<'a> = &'a mut dyn FnMut(usize, BlockSize) -> Result<()>;

/// The structure of a frame but for its blocks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameLayout {
    pub header: FrameHeader,
    /// Offset of the end mark.
    pub end: usize,
    /// The checksum of the content, if the frame has one. It is not verified.
    pub content_checksum: Option<u32>,
}

impl FrameLayout {
    /// Returns the layout of `n_bytes` bytes, and passes each block to `on_block`. `dictionary` is the one of the frame, if it has one.
    ///
    /// `None` unless the bytes are one whole frame, which is not a legacy frame, with a header that `accept` accepts.
    ///
    /// # Errors
    /// Those of `read` and `on_block`.
    pub(crate) fn read(
        n_bytes: usize,
        read: ReadAt<'_>,
        dictionary: Option<&Dictionary>,
        accept: fn(&FrameHeader) -> bool,
        on_block: OnBlock<'_>,
    ) -> Result<Option<Self>> {
        let mut reader = FrameReader::new().with_dictionary(dictionary.cloned());
        let mut found = None;
        let mut at = 0;
        loop {
            let mut start = [0; MAX_HEADER_BYTES];
            let start = &mut start[..MAX_HEADER_BYTES.min(n_bytes - at)];
            read(at, start)?;
            let Ok(Peek::Piece(piece, n_piece)) = reader.peek(start) else {
                return Ok(None);
            };
            if n_piece > n_bytes - at {
                return Ok(None);
            }
            reader.pass(piece, n_piece);
            match (piece, found) {
                (Piece::Header(header), None) if !header.legacy && accept(&header) => {
                    found = Some(header);
                }
                (Piece::Block(size), Some(_)) => on_block(at, size)?,
                (Piece::End, Some(header)) if at + n_piece == n_bytes => {
                    let content_checksum =
                        word(start, WORD_BYTES).filter(|_| header.content_checksum);
                    return Ok(Some(Self {
                        header,
                        end: at,
                        content_checksum,
                    }));
                }
                _ => return Ok(None),
            }
            at += n_piece;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::lz4::frame::{FrameOptions, LEGACY_MAGIC, compress};

    fn layout(bytes: &[u8]) -> Option<(FrameLayout, Vec<(usize, BlockSize)>)> {
        let read = |at: usize, to: &mut [u8]| {
            to.copy_from_slice(&bytes[at..at + to.len()]);
            Ok(())
        };
        let mut blocks = Vec::new();
        let found = FrameLayout::read(bytes.len(), &read, None, |_| true, &mut |at, size| {
            blocks.push((at, size));
            Ok(())
        });
        found.expect("nothing fails").map(|found| (found, blocks))
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
            let (found, blocks) = layout(&frame).expect("a frame");
            assert_eq!(found.header.content_size, Some(3_000_000));
            assert_eq!(found.content_checksum, word(&frame, frame.len() - 4));
            let mut at = blocks[0].0;
            for &(start, size) in &blocks {
                assert_eq!(start, at);
                at += size.framed_bytes(block_checksums);
            }
            assert_eq!((blocks.len(), found.end), (3, at));
            assert_eq!(at + 8, frame.len());
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
