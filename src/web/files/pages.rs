//! Pages on the CPU.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::lz4::{self, Dictionary, Encoder, PageEntry, Parse};
use crate::memory::{as_uninit, extend, reserve, with_room};
use crate::web::bytes::copied;
use crate::web::level::Level;
use crate::web::table::{entries, read_entry};
use crate::{Error, Result};

/// Compresses pages. Returns their blocks, each at a multiple of 4 bytes, followed by the table: two words per page.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unsupported page size; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = compressPages)]
pub fn compress_pages(
    bytes: &[u8],
    page_size: u32,
    level: Level,
) -> std::result::Result<Vec<u8>, JsValue> {
    Ok(compress_to_pages(bytes, page_size, level, None)?)
}

/// As [`compress_pages`]. If there is a dictionary, it stands before each page.
pub(in crate::web) fn compress_to_pages(
    bytes: &[u8],
    page_size: u32,
    level: Level,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>> {
    lz4::check_page_size(page_size)?;
    let mut pages = bytes.chunks(page_size as usize);
    let (mut packed, table) = compress_each(&mut pages, bytes.len(), page_size, level, dictionary)?;
    reserve(&mut packed, size_of_val(&table[..]))?;
    for entry in table {
        // Offsets of blocks in less than 4 GiB always fit in an entry.
        let words = entry.to_words().unwrap_or_default();
        extend(&mut packed, bytemuck::bytes_of(&words))?;
    }
    Ok(packed)
}

/// Compresses each of `pages`, `n_bytes` in total. Returns their blocks, each at a multiple of 4 bytes, and their entries.
pub(in crate::web) fn compress_each(
    pages: &mut dyn Iterator<Item = &[u8]>,
    n_bytes: usize,
    page_size: u32,
    level: Level,
    dictionary: Option<&Dictionary>,
) -> Result<(Vec<u8>, Vec<PageEntry>)> {
    let parse = Parse::new(page_size, level.into())?;
    let mut encoder = Encoder::with_dictionary(&parse, dictionary.cloned());
    let mut packed = with_room(n_bytes)?;
    let mut table = with_room(n_bytes.div_ceil(page_size as usize))?;
    for page in pages {
        table.push(encoder.append_page(page, &mut packed));
    }
    Ok((packed, table))
}

/// A decoder of compressed pages.
#[wasm_bindgen]
#[derive(Debug)]
pub struct PageDecoder {
    packed: Vec<u8>,
    table: Vec<u32>,
    page_size: usize,
    n_bytes: usize,
    n_done: usize,
    dictionary: Option<Dictionary>,
}

#[wasm_bindgen]
impl PageDecoder {
    /// Creates a decoder of pages with `nBytes` in total.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unsupported page size, or a table of the wrong length.
    #[wasm_bindgen(constructor)]
    pub fn new(
        packed: &Uint8Array,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> std::result::Result<PageDecoder, JsValue> {
        Ok(Self::with_dictionary(
            packed, table, page_size, n_bytes, None,
        )?)
    }

    /// Decompresses the next `nPages` pages, or the remaining ones if there are fewer. Returns their bytes, followed by
    /// one status byte per page: 0, or the code of the page's error. If `isStrict`, throws the first error instead.
    ///
    /// # Errors
    /// `CORRUPT_PAGE`; `OUT_OF_MEMORY`.
    pub fn advance(
        &mut self,
        n_pages: usize,
        is_strict: bool,
    ) -> std::result::Result<Vec<u8>, JsValue> {
        Ok(self.decode(n_pages, is_strict)?)
    }
}

impl PageDecoder {
    /// As [`new`](Self::new). If there is a dictionary, it stands before each page.
    pub(in crate::web) fn with_dictionary(
        packed: &Uint8Array,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
        dictionary: Option<Dictionary>,
    ) -> Result<Self> {
        let n_pages = entries(&table)?.len();
        Ok(Self {
            n_bytes: lz4::checked_bytes(n_bytes as u64, page_size, n_pages)?,
            packed: copied(packed)?,
            table,
            page_size: page_size as usize,
            n_done: 0,
            dictionary,
        })
    }

    fn decode(&mut self, n_pages: usize, is_strict: bool) -> Result<Vec<u8>> {
        let left = self.n_bytes - self.n_done * self.page_size;
        let n_bytes = left.min(n_pages.saturating_mul(self.page_size));
        let mut out = crate::memory::zeros(n_bytes + n_bytes.div_ceil(self.page_size))?;
        let (bytes, status) = out.split_at_mut(n_bytes);
        let entries = entries(&self.table)?.iter().skip(self.n_done);
        let pages = bytes.chunks_mut(self.page_size).zip(status);
        for ((page, status), &entry) in pages.zip(entries) {
            let entry = read_entry(entry, &self.packed);
            // SAFETY: `decompress_uninit` writes only initialised bytes.
            let page = unsafe { as_uninit(page) };
            match entry.decompress_uninit(&self.packed, page, self.dictionary.as_ref()) {
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
