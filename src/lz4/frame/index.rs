//! The block index: a skippable frame right after the frame that it describes. Whoever does not know it skips it.
//!
//! Its format is told in the documentation of [`super`].

use super::{SKIPPABLE_MAGIC, STORED_BIT, checksum, put, put_word, word};
use crate::text::fill;
use crate::{Error, Result};

/// First four bytes of an index.
pub const INDEX_MAGIC: u32 = SKIPPABLE_MAGIC | 5;
/// Last four bytes of an index.
pub const INDEX_SIGNATURE: [u8; 4] = *b"PPIX";

/// Bytes at the end of an index that are there however many blocks there are.
pub(super) const FOOTER_BYTES: usize = 28;
const ENTRY_BYTES: usize = 8;
const HEAD_BYTES: usize = 8;
const VERSION: u32 = 1;
const BLOCK_CHECKSUMS: u16 = 1;
const CONTENT_CHECKSUM: u16 = 2;
const CHECKSUM_BYTES: u64 = 4;
const SIZE_BYTES: u64 = 4;
/// Largest content of a block in a frame.
const MAX_CONTENT: u32 = 4 << 20;

/// A block of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its size, with [`STORED_BIT`].
    pub size_word: u32,
    pub content_bytes: u32,
}

/// What an index tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrameIndex {
    pub entries: Vec<Entry>,
    pub header_bytes: u16,
    pub block_checksums: bool,
    pub content_checksum: bool,
}

impl Entry {
    pub(super) const fn size(self) -> u32 {
        self.size_word & !STORED_BIT
    }
}

impl FrameIndex {
    /// Notes the blocks in `written`, which have `content_bytes` of content: `block_size` each but the last.
    pub(super) fn note(&mut self, written: &[u8], content_bytes: usize, block_size: usize) {
        let (mut at, mut left) = (0, content_bytes);
        while let Some(size_word) = word(written, at) {
            let entry = self.note_block(size_word, &mut left, block_size);
            at += (SIZE_BYTES + self.after_block(entry)) as usize;
        }
    }

    /// Notes a block of this size, which holds the next of `left` bytes of content.
    pub(super) fn note_block(
        &mut self,
        size_word: u32,
        left: &mut usize,
        block_size: usize,
    ) -> Entry {
        let content = block_size.min(*left);
        *left -= content;
        let entry = Entry {
            size_word,
            content_bytes: content as u32,
        };
        self.entries.push(entry);
        entry
    }

    /// Appends the index of a frame.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are more blocks than an index holds.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let n_bytes = self.entries.len() * ENTRY_BYTES + FOOTER_BYTES;
        let length = u32::try_from(n_bytes).map_err(|_| Error::InvalidArgument {
            name: "index",
            value: fill("# blocks", &[], &[self.entries.len() as u64]),
            expected: "give larger blocks, or write no index",
        })?;
        put_word(out, INDEX_MAGIC);
        put_word(out, length);
        let start = out.len();
        for entry in &self.entries {
            put_word(out, entry.size_word);
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

    /// Bytes of the index that ends with `tail`, if one seems to.
    pub(super) fn length(tail: &[u8]) -> Option<u64> {
        let footer = tail.get(tail.len().checked_sub(FOOTER_BYTES)?..)?;
        let is_index = footer.ends_with(&INDEX_SIGNATURE) && word(footer, 12)? == VERSION;
        let n_blocks = u64::from(word(footer, 8)?);
        is_index.then_some(n_blocks * ENTRY_BYTES as u64 + (HEAD_BYTES + FOOTER_BYTES) as u64)
    }

    /// The index that `bytes` are, from magic number to signature; `None` if it is not sound.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let body = bytes.get(HEAD_BYTES..)?;
        let is_framed = word(bytes, 0)? == INDEX_MAGIC && word(bytes, 4)? as usize == body.len();
        let (entries, footer) = body.split_at_checked(body.len().checked_sub(FOOTER_BYTES)?)?;
        let summed = body.len() - 8;
        let is_sound = is_framed
            && Self::length(body) == Some(bytes.len() as u64)
            && word(body, summed)? == checksum(&body[..summed]);
        let header_and_flags = word(footer, 16)?;
        let flags = (header_and_flags >> 16) as u16;
        if !is_sound {
            return None;
        }
        let mut blocks = Vec::with_capacity(entries.len() / ENTRY_BYTES);
        for entry in entries.as_chunks::<ENTRY_BYTES>().0 {
            let [size_word, content_bytes] = [word(entry, 0)?, word(entry, 4)?];
            if size_word == 0 || content_bytes == 0 || content_bytes > MAX_CONTENT {
                return None;
            }
            blocks.push(Entry {
                size_word,
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

    /// Bytes of the frame.
    pub(super) fn frame_bytes(&self) -> u64 {
        let blocks: u64 = self
            .entries
            .iter()
            .map(|&entry| SIZE_BYTES + self.after_block(entry))
            .sum();
        let end = if self.content_checksum {
            SIZE_BYTES + CHECKSUM_BYTES
        } else {
            SIZE_BYTES
        };
        u64::from(self.header_bytes) + blocks + end
    }

    /// Bytes of a block after its size.
    fn after_block(&self, entry: Entry) -> u64 {
        let checksum = if self.block_checksums {
            CHECKSUM_BYTES
        } else {
            0
        };
        u64::from(entry.size()) + checksum
    }
}
