//! Pages in parts.

use crate::lz4::{self, Encoder, Level, Parse};
use crate::memory::reserve;
use crate::web::level;
use crate::web::memory::{object, settle, taken};
use crate::web::table::{entries, read_entry};
use crate::{Error, Result};

/// Gives the blocks of pages, and then their table.
///
/// # Safety
/// The memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn compress_pages(
    bytes: *mut u8,
    n_bytes: usize,
    page_size: u32,
    flags: u32,
) -> u32 {
    // SAFETY: this function's contract.
    let bytes = unsafe { taken(bytes, n_bytes) };
    settle(compressed(&bytes, page_size, level(flags)))
}

fn compressed(bytes: &[u8], page_size: u32, level: Level) -> Result<Vec<u8>> {
    lz4::check_page_size(page_size)?;
    let mut encoder = Encoder::new(&Parse::new(page_size, level)?);
    let (mut packed, mut table) = (Vec::new(), Vec::new());
    reserve(&mut packed, bytes.len())?;
    reserve(&mut table, 8 * bytes.len().div_ceil(page_size as usize))?;
    for page in bytes.chunks(page_size as usize) {
        let entry = encoder.append_page(page, &mut packed);
        // Blocks of what fits in 4 GiB are never too far for an entry.
        for word in entry.to_words().unwrap_or_default() {
            lz4::frame::put_word(&mut table, word);
        }
    }
    lz4::frame::put(&mut packed, &table);
    Ok(packed)
}

/// Pages that are being decompressed.
struct Pages {
    packed: Vec<u8>,
    table: Vec<u8>,
    page_size: usize,
    n_bytes: usize,
    n_done: usize,
}

/// Begins to decompress pages of `n_bytes` in all.
///
/// # Safety
/// The memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn begin_pages(
    packed: *mut u8,
    n_packed: usize,
    table: *mut u8,
    n_table: usize,
    page_size: u32,
    n_bytes: f64,
) -> *mut Pages {
    // SAFETY: this function's contract.
    let (packed, table) = unsafe { (taken(packed, n_packed), taken(table, n_table)) };
    let begin = || {
        let n_pages = entries(&table)?.len();
        let n_bytes = lz4::checked_bytes(n_bytes as u64, page_size, n_pages)?;
        Ok(Pages {
            packed,
            table,
            page_size: page_size as usize,
            n_bytes,
            n_done: 0,
        })
    };
    object(begin())
}

/// Gives the next `n_pages` pages or what is left of them, then of each a byte: 0, or the number of a
/// [`lz4::BlockError`], which `is_strict` makes an error.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn decompress_pages(pages: *mut Pages, n_pages: usize, is_strict: bool) -> u32 {
    // SAFETY: this function's contract.
    settle(unsafe { &mut *pages }.advance(n_pages, is_strict))
}

impl Pages {
    fn advance(&mut self, n_pages: usize, is_strict: bool) -> Result<Vec<u8>> {
        let left = self.n_bytes - self.n_done * self.page_size;
        let n_bytes = left.min(n_pages.saturating_mul(self.page_size));
        let n_out = n_bytes + n_bytes.div_ceil(self.page_size);
        let mut out = Vec::new();
        reserve(&mut out, n_out)?;
        out.resize(n_out, 0);
        let (bytes, status) = out.split_at_mut(n_bytes);
        let entries = entries(&self.table)?.iter().skip(self.n_done);
        let pages = bytes.chunks_mut(self.page_size).zip(status);
        for ((page, status), entry) in pages.zip(entries) {
            let entry = read_entry(entry, &self.packed);
            match entry.decompress(&self.packed, page) {
                Err(source) if is_strict => {
                    let page = self.n_done;
                    return Err(Error::CorruptPage { page, source });
                }
                Err(error) => *status = error as u8,
                Ok(()) => {}
            }
            self.n_done += 1;
        }
        Ok(out)
    }
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_pages(pages: *mut Pages) {
    // SAFETY: this function's contract.
    drop(unsafe { Box::from_raw(pages) });
}
