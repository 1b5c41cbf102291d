//! Page tables: two words per page, in the format of the kernels.

use crate::lz4::{PageEntry, PageKind};
use crate::{Error, Result};

/// An entry that is invalid for every page.
const BAD: PageEntry = PageEntry {
    offset: 0,
    length: 0,
    kind: PageKind::Lz4,
};

/// Splits a table into entries of two words.
pub(super) fn entries(table: &[u32]) -> Result<&[[u32; 2]]> {
    match table.as_chunks() {
        (entries, []) => Ok(entries),
        _ => {
            let n_words = table.len() as u64;
            let expected = "give two words a page";
            Err(Error::invalid("table length", n_words, expected))
        }
    }
}

/// Decodes the entry of a page. The word of a fill page is read from `packed` if that contains it. An entry of an
/// unknown kind is replaced by one that is invalid for every page, so that the other pages are still decompressed.
pub(super) fn read_entry(words: [u32; 2], packed: &[u8]) -> PageEntry {
    PageEntry::from_words(words, packed).unwrap_or(BAD)
}
