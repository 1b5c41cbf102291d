//! Tables of pages as bytes: eight a page, the two words of its entry.

use crate::lz4::{BlockError, PageEntry};
use crate::{Error, Result};

/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = 8;

/// The entry of a page; the words of a fill are read from `packed` if they are there.
pub(super) fn read_entry(
    entry: &[u8; ENTRY_BYTES],
    packed: &[u8],
) -> std::result::Result<PageEntry, BlockError> {
    let [a, b, c, d, e, f, g, h] = *entry;
    let words = [[a, b, c, d], [e, f, g, h]].map(u32::from_le_bytes);
    PageEntry::from_words(words, packed)
}

/// All entries of a table.
pub(super) fn read_table(table: &[u8], packed: &[u8]) -> Result<Vec<PageEntry>> {
    let (entries, rest) = table.as_chunks();
    if !rest.is_empty() {
        let n_words = table.len() as u64 / 4;
        let expected = "give two words a page";
        return Err(Error::invalid("table length", n_words, expected));
    }
    let entry = |(page, entry)| {
        read_entry(entry, packed).map_err(|source| Error::CorruptPage { page, source })
    };
    entries.iter().enumerate().map(entry).collect()
}
