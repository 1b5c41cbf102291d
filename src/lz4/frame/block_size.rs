//! The size field in front of each block of a frame: the one place that interprets it.

use super::FrameHeader;

/// Bytes of a size, a checksum or a magic number in a frame.
pub(super) const WORD_BYTES: usize = 4;
/// Bytes of the size of a block, and of the end mark.
pub(crate) const SIZE_BYTES: u64 = WORD_BYTES as u64;
/// Bit that marks a stored block. Legacy frames have no such blocks.
const STORED_BIT: u32 = 1 << 31;
/// Most bytes of content from one byte of a compressed block: a byte that continues the length of a match.
const MAX_EXPANSION: usize = 255;

/// The size field of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockSize {
    /// The field as it stands in the file.
    pub word: u32,
    is_legacy: bool,
}

impl BlockSize {
    pub(super) const fn new(word: u32, is_legacy: bool) -> Self {
        Self { word, is_legacy }
    }

    /// Returns the size field of a block of `n_bytes`, at most 4 MiB.
    pub(crate) const fn of(n_bytes: usize, is_compressed: bool) -> Self {
        let stored_bit = if is_compressed { 0 } else { STORED_BIT };
        Self::new(n_bytes as u32 | stored_bit, false)
    }

    /// Returns the length of the block in bytes, without size field and checksum.
    pub(super) const fn n_bytes(self) -> usize {
        let mask = if self.is_legacy {
            u32::MAX
        } else {
            !STORED_BIT
        };
        (self.word & mask) as usize
    }

    /// Returns false if the block is its content, uncompressed.
    pub(super) const fn is_compressed(self) -> bool {
        self.is_legacy || self.word & STORED_BIT == 0
    }

    /// Returns the bytes from the size field to the end of the block or, if it has one, of its checksum.
    pub(crate) const fn framed_bytes(self, has_checksum: bool) -> usize {
        let n_words = if has_checksum { 2 } else { 1 };
        n_words * WORD_BYTES + self.n_bytes()
    }

    /// Returns true if the block can have `content_bytes` of content.
    pub(super) fn can_hold(self, content_bytes: u32) -> bool {
        let n_bytes = self.n_bytes() as u64;
        match self.is_compressed() {
            true => u64::from(content_bytes) <= MAX_EXPANSION as u64 * n_bytes,
            false => u64::from(content_bytes) == n_bytes,
        }
    }

    /// Returns the most bytes of content that the block can have.
    pub(super) fn max_content(self, header: &FrameHeader) -> usize {
        if !self.is_compressed() {
            return self.n_bytes();
        }
        let expanded = self.n_bytes().saturating_mul(MAX_EXPANSION);
        expanded.min(header.block_max_size as usize)
    }
}
