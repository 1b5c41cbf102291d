//! The block index: a skippable frame directly after the frame that it describes. Other LZ4 programs skip it.
//!
//! [`super`] documents its format.

use super::{
    BlockSize, FrameHeader, SIZE_BYTES, SKIPPABLE_MAGIC, WORD_BYTES, checksum, put, put_word, word,
};
use crate::memory::reserve;
use crate::{Error, Result};

/// First four bytes of an index.
pub const INDEX_MAGIC: u32 = SKIPPABLE_MAGIC | 5;
/// Last four bytes of an index.
pub const INDEX_SIGNATURE: [u8; 4] = *b"PPIX";

/// Bytes of the footer of an index, which does not depend on the number of blocks.
pub(super) const FOOTER_BYTES: usize = 28;
const ENTRY_BYTES: usize = 8;
const HEAD_BYTES: usize = 8;
const VERSION: u32 = 1;
const BLOCK_CHECKSUMS: u16 = 1;
const CONTENT_CHECKSUM: u16 = 2;
const CHECKSUM_BYTES: u64 = WORD_BYTES as u64;
/// Largest content of a block of a frame.
const MAX_CONTENT: u32 = 4 << 20;

/// An entry of the index: one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub size: BlockSize,
    pub content_bytes: u32,
}

/// The content of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrameIndex {
    pub entries: Vec<Entry>,
    pub header_bytes: u16,
    pub block_checksums: bool,
    pub content_checksum: bool,
}

impl FrameIndex {
    /// Notes the blocks in `written`, which have `content_bytes` of content: `block_size` each but the last.
    pub(super) fn note(&mut self, written: &[u8], content_bytes: usize, block_size: usize) {
        let (mut at, mut left) = (0, content_bytes);
        while let Some(size) = word(written, at) {
            let content = block_size.min(left);
            left -= content;
            let entry = Entry {
                size: BlockSize::new(size, false),
                content_bytes: content as u32,
            };
            self.entries.push(entry);
            at += entry.size.framed_bytes(self.block_checksums);
        }
    }

    /// Appends the index after its frame.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are more blocks than an index holds.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let n_bytes = self.entries.len() * ENTRY_BYTES + FOOTER_BYTES;
        let length = u32::try_from(n_bytes).map_err(|_| Error::InvalidArgument {
            name: "index",
            value: format!("{} blocks", self.entries.len()),
            expected: "give larger blocks, or write no index",
        })?;
        put_word(out, INDEX_MAGIC);
        put_word(out, length);
        let start = out.len();
        for entry in &self.entries {
            put_word(out, entry.size.word);
            put_word(out, entry.content_bytes);
        }
        let flag = |set: bool, bit: u16| if set { bit } else { 0 };
        let flags = flag(self.block_checksums, BLOCK_CHECKSUMS)
            | flag(self.content_checksum, CONTENT_CHECKSUM);
        put(out, &self.frame_bytes().to_le_bytes());
        put_word(out, self.entries.len() as u32);
        put_word(out, VERSION);
        put_word(out, u32::from(flags) << 16 | u32::from(self.header_bytes));
        let sum = checksum(&out[start..]);
        put_word(out, sum);
        put(out, &INDEX_SIGNATURE);
        Ok(())
    }

    /// Returns the length of the index that ends with `tail`, at byte `end` of the file. `None` if `tail` is not the
    /// end of an index, or if its frame would not fit before it.
    pub(super) fn length(tail: &[u8], end: u64) -> Option<u64> {
        let footer = tail.get(tail.len().checked_sub(FOOTER_BYTES)?..)?;
        let is_index = footer.ends_with(&INDEX_SIGNATURE) && word(footer, 12)? == VERSION;
        let n_blocks = u64::from(word(footer, 8)?);
        let length = n_blocks * ENTRY_BYTES as u64 + (HEAD_BYTES + FOOTER_BYTES) as u64;
        let frame_bytes = u64::from_le_bytes(*footer.first_chunk()?);
        let fits =
            frame_bytes >= n_blocks * SIZE_BYTES && frame_bytes <= end.checked_sub(length)?;
        (is_index && fits).then_some(length)
    }

    /// Reads the index in `bytes`, from magic number to signature; `None` if it is invalid.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>> {
        let mut blocks = Vec::new();
        reserve(&mut blocks, bytes.len() / ENTRY_BYTES)?;
        Ok(Self::read_to(blocks, bytes))
    }

    fn read_to(mut blocks: Vec<Entry>, bytes: &[u8]) -> Option<Self> {
        let body = bytes.get(HEAD_BYTES..)?;
        let is_framed = word(bytes, 0)? == INDEX_MAGIC && word(bytes, 4)? as usize == body.len();
        let (entries, footer) = body.split_at_checked(body.len().checked_sub(FOOTER_BYTES)?)?;
        let summed = body.len() - 8;
        let is_sound = is_framed
            && Self::length(body, u64::MAX) == Some(bytes.len() as u64)
            && word(body, summed)? == checksum(&body[..summed]);
        let header_and_flags = word(footer, 16)?;
        let flags = (header_and_flags >> 16) as u16;
        if !is_sound {
            return None;
        }
        for entry in entries.as_chunks::<ENTRY_BYTES>().0 {
            let [size_word, content_bytes] = [word(entry, 0)?, word(entry, 4)?];
            let size = BlockSize::new(size_word, false);
            if content_bytes == 0 || content_bytes > MAX_CONTENT || !size.can_hold(content_bytes) {
                return None;
            }
            blocks.push(Entry {
                size,
                content_bytes,
            });
        }
        let index = Self {
            entries: blocks,
            header_bytes: header_and_flags as u16,
            block_checksums: flags & BLOCK_CHECKSUMS != 0,
            content_checksum: flags & CONTENT_CHECKSUM != 0,
        };
        let frame_bytes = u64::from_le_bytes(*footer.first_chunk()?);
        (index.frame_bytes() == frame_bytes).then_some(index)
    }

    /// Returns true if the described frame can have this header, whose length is that in the index.
    pub(super) fn fits(&self, header: &FrameHeader) -> bool {
        let content_bytes = || {
            let sizes = self.entries.iter().map(|entry| entry.content_bytes);
            sizes.map(u64::from).sum::<u64>()
        };
        let largest = self.entries.iter().map(|entry| entry.content_bytes).max();
        !header.legacy
            && !header.linked
            && header.block_checksums == self.block_checksums
            && header.content_checksum == self.content_checksum
            && largest.unwrap_or(0) <= header.block_max_size
            && header
                .content_size
                .is_none_or(|size| size == content_bytes())
    }

    /// Returns the bytes of the frame's end mark and content checksum.
    pub(super) const fn end_bytes(&self) -> u64 {
        if self.content_checksum {
            SIZE_BYTES + CHECKSUM_BYTES
        } else {
            SIZE_BYTES
        }
    }

    /// Returns the bytes of the frame.
    pub(super) fn frame_bytes(&self) -> u64 {
        let blocks: u64 = self
            .entries
            .iter()
            .map(|entry| entry.size.framed_bytes(self.block_checksums) as u64)
            .sum();
        u64::from(self.header_bytes) + blocks + self.end_bytes()
    }
}
