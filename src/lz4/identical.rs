//! The number of pages in a batch that are equal.

use std::collections::HashSet;

use super::batch::{PackedPages, checked_bytes};
use super::{BlockError, PageKind};
use crate::{Error, Result};

/// Content of a page, compressed: its kind, its length, its block. A shorter page at the end can have the fill of another.
type Content<'a> = (PageKind, usize, &'a [u8]);

impl PackedPages {
    /// Returns the number of pages that are equal to an earlier page of the batch. A store that keeps each content once
    /// ([`snapshot`](crate::snapshot)) needs no block for these.
    ///
    /// Compares blocks: equal pages have equal blocks, since all blocks of a batch have the same level. It takes time and
    /// memory with each call, and none with compression.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the table and `n_bytes` disagree; [`Error::CorruptPage`] if an entry of the table is out of
    /// bounds; [`Error::OutOfMemory`].
    pub fn n_identical_pages(&self) -> Result<usize> {
        if *self == Self::default() {
            return Ok(0);
        }
        let n_bytes = checked_bytes(self.n_bytes, self.page_size, self.table.len())?;
        let n_pages = self.table.len();
        let mut contents: HashSet<Content<'_>> = HashSet::new();
        let requested = n_pages as u64 * size_of::<Content<'_>>() as u64;
        let reserved = contents.try_reserve(n_pages);
        reserved.map_err(|_| Error::OutOfMemory { requested })?;
        for (page, entry) in self.table.iter().enumerate() {
            let page_size = self.page_size as usize;
            let length = page_size.min(n_bytes - page * page_size);
            let block = entry.block(&self.packed, length);
            let source = BlockError::BadTableEntry;
            let block = block.ok_or(Error::CorruptPage { page, source })?;
            contents.insert((entry.kind, length, block));
        }
        Ok(n_pages - contents.len())
    }
}
