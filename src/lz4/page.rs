//! Pages and their table entries.

use std::mem::MaybeUninit;

use super::decode::decompress_block_uninit;
use super::{BlockError, Dictionary};
use crate::memory::as_uninit;

/// Alignment of blocks in a packed buffer, in bytes.
pub(super) const BLOCK_ALIGNMENT: u64 = 4;
/// Bits of the length in a table entry; the other two hold the kind.
const LENGTH_BITS: u32 = 30;
const MAX_LENGTH: u32 = (1 << LENGTH_BITS) - 1;
/// Bytes of the repeated word of a fill page.
const FILL_BYTES: usize = 8;

/// The representation of a compressed page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// One LZ4 block.
    Lz4,
    /// The page itself, because LZ4 does not make it smaller.
    Stored,
    /// One 64-bit word (little-endian) that is repeated over the page; its block is the word.
    Fill(u64),
}

/// The place and kind of the block of a page in a packed buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageEntry {
    /// Start of the block in bytes, a multiple of 4.
    pub offset: u64,
    /// Length of the block in bytes.
    pub length: u32,
    /// Kind of the block.
    pub kind: PageKind,
}

impl PageEntry {
    #[cfg(any(gpu_engine, not(target_arch = "wasm32")))]
    /// Returns the entry after its block was moved by `n_bytes`, the size of the blocks before it.
    pub(crate) const fn behind(self, n_bytes: u64) -> Self {
        Self {
            offset: self.offset + n_bytes,
            ..self
        }
    }

    /// Encodes the entry for the kernels: the offset in 4-byte words; the length, with the kind in its two upper bits
    /// (0 LZ4, 1 stored, 2 fill). Returns `None` if the offset is not a multiple of 4 or a value does not fit.
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

    /// Decodes an entry of the kernels. The word of a fill is read from `packed`; it is 0 if `packed` does not reach
    /// that far.
    ///
    /// # Errors
    /// [`BlockError::BadTableEntry`] if the kind is not one of the three.
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

    /// Decompresses the block of this entry in `packed` to `page`, which it must fill. It must not need a
    /// dictionary.
    ///
    /// # Errors
    /// [`BlockError::BadTableEntry`] if the entry points outside `packed` or its length does not fit its kind, else the
    /// error of the decoder. `page` is all zeros after an error.
    pub fn decompress(&self, packed: &[u8], page: &mut [u8]) -> Result<(), BlockError> {
        // SAFETY: `decompress_uninit` writes only initialised bytes.
        self.decompress_uninit(packed, unsafe { as_uninit(page) }, None)
    }

    /// As [`decompress`](Self::decompress), to memory that may be uninitialised. All of `page` is initialised then, also after
    /// an error.
    pub(crate) fn decompress_uninit(
        &self,
        packed: &[u8],
        page: &mut [MaybeUninit<u8>],
        dictionary: Option<&Dictionary>,
    ) -> Result<(), BlockError> {
        let Some(block) = self.block(packed, page.len()) else {
            page.fill(MaybeUninit::new(0));
            return Err(BlockError::BadTableEntry);
        };
        match self.kind {
            PageKind::Lz4 => return decompress_block_uninit(block, page, dictionary),
            PageKind::Stored => {
                page.write_copy_of_slice(block);
            }
            PageKind::Fill(_) => {
                // The length of the page is a multiple of that of the word.
                for word in page.chunks_exact_mut(FILL_BYTES) {
                    word.write_copy_of_slice(block);
                }
            }
        }
        Ok(())
    }

    /// Returns the block, if the entry is valid for a page of `page_length` bytes.
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

/// Returns the longest block in bytes that can decode to `page_length` bytes: one run of literals.
const fn longest_block(page_length: usize) -> usize {
    page_length + page_length / 255 + 16
}

/// Returns the 64-bit little-endian word that fills `page`, if the length is a multiple of 8 and at least 8, and there
/// is one.
#[must_use]
pub(crate) fn fill_word(page: &[u8]) -> Option<u64> {
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
