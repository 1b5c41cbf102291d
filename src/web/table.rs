//! Tables of pages: two words a page, as kernels keep them.

use crate::lz4::{PageEntry, PageKind};
use crate::{Error, Result};

/// An entry from which no page can be decompressed.
const BAD: PageEntry = PageEntry {
    offset: 0,
    length: 0,
    kind: PageKind::Lz4,
};

/// The entries of a table.
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

/// The entry of a page; the words of a fill are read from `packed` if they are there. An entry of no known kind becomes one
/// that is bad for any page, so that the other pages are decompressed.
pub(super) fn read_entry(words: [u32; 2], packed: &[u8]) -> PageEntry {
    PageEntry::from_words(words, packed).unwrap_or(BAD)
}
