//! A page and its entry in the table of a batch.

use super::BlockError;
use super::decode::decompress_block;

/// Blocks start at multiples of this many bytes in a packed buffer.
pub(super) const BLOCK_ALIGNMENT: u64 = 4;
/// Lengths in a table entry have 30 bits, kinds two.
const LENGTH_BITS: u32 = 30;
const MAX_LENGTH: u32 = (1 << LENGTH_BITS) - 1;
/// Bytes of the word of a fill page.
const FILL_BYTES: usize = 8;

/// How a page is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// An LZ4 block.
    Lz4,
    /// The page itself, which does not shrink.
    Stored,
    /// One 64-bit word (little-endian) that fills the page; its block is the word.
    Fill(u64),
}

/// Where the block of a page lies in a packed buffer, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageEntry {
    /// Start of the block in bytes, a multiple of 4.
    pub offset: u64,
    /// Length of the block in bytes.
    pub length: u32,
    /// What the block is.
    pub kind: PageKind,
}

impl PageEntry {
    #[cfg(any(gpu_engine, not(target_arch = "wasm32")))]
    /// The entry of a block that was moved behind `n_bytes` of others.
    pub(crate) const fn behind(self, n_bytes: u64) -> Self {
        Self {
            offset: self.offset + n_bytes,
            ..self
        }
    }

    /// The entry as the kernels keep it: the offset in words of 4 bytes; the length, with the kind in its two
    /// upper bits (0 LZ4, 1 stored, 2 fill). `None` if the offset is no multiple of 4 or either does not fit.
    #[must_use]
    pub fn to_words(&self) -> Option<[u32; 2]> {
        let kind = match self.kind {
            PageKind::Lz4 => 0,
            PageKind::Stored => 1,
            PageKind::Fill(_) => 2,
        };
        let offset_words = u32::try_from(self.offset / BLOCK_ALIGNMENT).ok()?;
        let fits = self.offset.is_multiple_of(BLOCK_ALIGNMENT) && self.length <= MAX_LENGTH;
        fits.then_some([offset_words, self.length | kind << LENGTH_BITS])
    }

    /// The entry from the words of the kernels. The word of a fill is read from `packed`, and is 0 if it is not
    /// there.
    ///
    /// # Errors
    /// [`BlockError::BadTableEntry`] if the kind is none of the three.
    pub fn from_words(words: [u32; 2], packed: &[u8]) -> Result<Self, BlockError> {
        let [offset_words, length_and_kind] = words;
        let offset = u64::from(offset_words) * BLOCK_ALIGNMENT;
        let kind = match length_and_kind >> LENGTH_BITS {
            0 => PageKind::Lz4,
            1 => PageKind::Stored,
            2 => PageKind::Fill(word_at(packed, offset)),
            _ => return Err(BlockError::BadTableEntry),
        };
        Ok(Self {
            offset,
            length: length_and_kind & MAX_LENGTH,
            kind,
        })
    }

    /// Decompresses the block that this entry names in `packed` to `page`, which it must fill.
    ///
    /// # Errors
    /// [`BlockError::BadTableEntry`] if the entry leaves `packed` or its length does not fit its kind, else what
    /// the decoder finds. `page` is then all zeros.
    pub fn decompress(&self, packed: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
        let Some(block) = self.block(packed, page.len()) else {
            page.fill(0);
            return Err(BlockError::BadTableEntry);
        };
        match self.kind {
            PageKind::Lz4 => return decompress_block(block, page),
            PageKind::Stored => page.copy_from_slice(block),
            PageKind::Fill(_) => {
                for word in page.chunks_exact_mut(FILL_BYTES) {
                    word.copy_from_slice(block);
                }
            }
        }
        Ok(())
    }

    /// The block, if the entry is sound for a page of `page_length` bytes.
    pub(super) fn block<'a>(&self, packed: &'a [u8], page_length: usize) -> Option<&'a [u8]> {
        let length = self.length as usize;
        let fits_kind = match self.kind {
            PageKind::Lz4 => length > 0 && length <= longest_block(page_length),
            PageKind::Stored => length == page_length,
            PageKind::Fill(_) => length == FILL_BYTES && page_length.is_multiple_of(FILL_BYTES),
        };
        if !fits_kind || !self.offset.is_multiple_of(BLOCK_ALIGNMENT) {
            return None;
        }
        let start = usize::try_from(self.offset).ok()?;
        packed.get(start..)?.get(..length)
    }
}

/// Longest block in bytes that can decode to `page_length` bytes: one run of literals.
const fn longest_block(page_length: usize) -> usize {
    page_length + page_length / 255 + 16
}

/// The little-endian 64-bit word that fills `page`, if there is one: its length is a multiple of 8, at least 8.
#[must_use]
pub(super) fn fill_word(page: &[u8]) -> Option<u64> {
    let first = *page.first_chunk::<FILL_BYTES>()?;
    let periodic = page.len().is_multiple_of(FILL_BYTES)
        && page[..page.len() - FILL_BYTES] == page[FILL_BYTES..];
    periodic.then(|| u64::from_le_bytes(first))
}

fn word_at(packed: &[u8], offset: u64) -> u64 {
    usize::try_from(offset)
        .ok()
        .and_then(|start| packed.get(start..)?.first_chunk::<FILL_BYTES>())
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
