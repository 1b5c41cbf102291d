//! Tables of pages as bytes: eight a page, the two words of its entry.

use crate::lz4::{PageEntry, PageKind};
use crate::{Error, Result};

/// Bytes of an entry.
const ENTRY_BYTES: usize = 8;

/// What no page can be decompressed from.
const BAD: PageEntry = PageEntry {
    offset: 0,
    length: 0,
    kind: PageKind::Lz4,
};

/// The entries of a table, as bytes.
pub(super) fn entries(table: &[u8]) -> Result<&[[u8; ENTRY_BYTES]]> {
    match table.as_chunks() {
        (entries, []) => Ok(entries),
        _ => {
            let n_words = table.len() as u64 / 4;
            Err(Error::invalid(
                "table length",
                n_words,
                "give two words a page",
            ))
        }
    }
}

/// The entry of a page; the words of a fill are read from `packed` if they are there. One that names no kind is an entry
/// that is bad for any page, so that the others are none the worse for it.
pub(super) fn read_entry(entry: &[u8; ENTRY_BYTES], packed: &[u8]) -> PageEntry {
    let [a, b, c, d, e, f, g, h] = *entry;
    let words = [[a, b, c, d], [e, f, g, h]].map(u32::from_le_bytes);
    PageEntry::from_words(words, packed).unwrap_or(BAD)
}
