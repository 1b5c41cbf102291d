//! Frames and pages on the CPU for JavaScript. Every call is done when it returns; `cpu-codec.ts` of the package takes
//! a part at a time, and lets others have the thread in between.

use wasm_bindgen::prelude::*;

use super::convert::{JsResult, entries_from, level_of, table_words, to_js_error};
use crate::lz4::frame::{FrameDecoder, FrameOptions, FrameWriter};
use crate::lz4::{self, PackedPages, PageEntry};
use crate::{Error, Result};

/// Most content in bytes that is decompressed at once, if blocks are not larger.
const GROUP_BYTES: usize = 1 << 20;

/// A frame that is being compressed.
#[wasm_bindgen(js_name = FrameCompression)]
#[derive(Debug)]
pub struct WebFrameCompression {
    writer: FrameWriter,
    /// The header, until it is given.
    header: Vec<u8>,
}

#[wasm_bindgen(js_class = FrameCompression)]
impl WebFrameCompression {
    /// Begins a frame. `content_size` is -1 if it is not known.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a block size out of range.
    #[wasm_bindgen(constructor)]
    pub fn new(
        block_size: u32,
        is_high: bool,
        content_checksum: bool,
        block_checksums: bool,
        content_size: f64,
        index: bool,
    ) -> JsResult<Self> {
        let options = FrameOptions {
            block_size,
            level: level_of(is_high),
            content_checksum,
            block_checksums,
            content_size: (content_size >= 0.0).then_some(content_size as u64),
            index,
        };
        let mut header = Vec::new();
        let writer = FrameWriter::new(&options, &mut header).map_err(to_js_error)?;
        Ok(Self { writer, header })
    }

    /// The blocks of `content`, which are whole ones but for the last of the frame.
    ///
    /// # Errors
    /// `CONTENT_SIZE_MISMATCH` at the end.
    pub fn push(&mut self, content: &[u8], is_last: bool) -> JsResult<Vec<u8>> {
        let mut out = std::mem::take(&mut self.header);
        self.append(content, is_last, &mut out)
            .map_err(to_js_error)?;
        Ok(out)
    }
}

impl WebFrameCompression {
    fn append(&mut self, content: &[u8], is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        self.writer.push(content, out)?;
        match is_last {
            true => self.writer.end(out),
            false => Ok(()),
        }
    }
}

/// Frames that are being decompressed.
#[wasm_bindgen(js_name = FrameDecompression)]
#[derive(Debug)]
pub struct WebFrameDecompression {
    decoder: FrameDecoder,
    /// Input, of which the first `at` bytes are done with.
    held: Vec<u8>,
    at: usize,
}

#[wasm_bindgen(js_class = FrameDecompression)]
impl WebFrameDecompression {
    /// Begins to decompress frames to at most `max_output_size` bytes.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(max_output_size: f64) -> Self {
        Self {
            decoder: FrameDecoder::new(Some(max_output_size as u64)).with_group_bytes(GROUP_BYTES),
            held: Vec::new(),
            at: 0,
        }
    }

    /// Takes more input.
    pub fn add(&mut self, input: Vec<u8>) {
        self.held.drain(..self.at);
        self.at = 0;
        if self.held.is_empty() {
            self.held = input;
        } else {
            self.held.extend_from_slice(&input);
        }
    }

    /// Some content; undefined if there is none before more input comes.
    ///
    /// # Errors
    /// What is wrong with the frames.
    pub fn advance(&mut self) -> JsResult<Option<Vec<u8>>> {
        let mut out = Vec::new();
        let advanced = self.decoder.advance(&self.held[self.at..], &mut out);
        let consumed = advanced.map_err(to_js_error)?;
        self.at += consumed;
        Ok((consumed > 0).then_some(out))
    }

    /// Says that no more input comes, once [`advance`](Self::advance) gives nothing.
    ///
    /// # Errors
    /// What is wrong at the end of the input.
    pub fn end(&mut self) -> JsResult<()> {
        let finished = self.decoder.finish(&self.held[self.at..]);
        finished.map_err(to_js_error)
    }

    /// Bytes of input done so far.
    #[must_use]
    #[wasm_bindgen(js_name = bytesIn)]
    pub fn bytes_in(&self) -> f64 {
        self.decoder.position() as f64
    }
}

/// Compresses pages: their blocks, then eight bytes of table a page.
///
/// # Errors
/// `INVALID_ARGUMENT` for a page size that is none.
#[wasm_bindgen(js_name = compressPages)]
pub fn compress_pages(bytes: &[u8], page_size: u32, is_high: bool) -> JsResult<Vec<u8>> {
    let compress = || {
        let mut pages = lz4::compress_pages(bytes, page_size, level_of(is_high))?;
        for word in table_words(&pages)? {
            pages.packed.extend_from_slice(&word.to_le_bytes());
        }
        Ok(pages.packed)
    };
    compress().map_err(to_js_error)
}

/// Pages that are being decompressed.
#[wasm_bindgen(js_name = PageDecompression)]
#[derive(Debug)]
pub struct WebPageDecompression {
    pages: PackedPages,
    rest: std::vec::IntoIter<PageEntry>,
    n_bytes: usize,
    n_done: usize,
}

#[wasm_bindgen(js_class = PageDecompression)]
impl WebPageDecompression {
    /// Begins to decompress pages of `n_bytes` in all.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if table, page size and length disagree; `CORRUPT_PAGE` for an entry of no kind.
    #[wasm_bindgen(constructor)]
    pub fn new(packed: Vec<u8>, table: &[u32], page_size: u32, n_bytes: f64) -> JsResult<Self> {
        let begin = || {
            let mut pages = PackedPages {
                table: entries_from(table, &packed)?,
                packed,
                page_size,
                n_bytes: n_bytes as u64,
            };
            let n_bytes = pages.checked_n_bytes()?;
            let rest = std::mem::take(&mut pages.table).into_iter();
            Ok(Self {
                pages,
                rest,
                n_bytes,
                n_done: 0,
            })
        };
        begin().map_err(to_js_error)
    }

    /// The next `n_pages` pages or what is left of them, then of each a byte: 0 or the number of a
    /// [`lz4::BlockError`], which `is_strict` makes an error.
    ///
    /// # Errors
    /// `CORRUPT_PAGE`.
    pub fn advance(&mut self, n_pages: usize, is_strict: bool) -> JsResult<Vec<u8>> {
        self.next_pages(n_pages, is_strict).map_err(to_js_error)
    }
}

impl WebPageDecompression {
    fn next_pages(&mut self, n_pages: usize, is_strict: bool) -> Result<Vec<u8>> {
        let page_size = self.pages.page_size as usize;
        let left = self.n_bytes - self.n_done * page_size;
        let n_bytes = left.min(n_pages * page_size);
        let mut out = vec![0; n_bytes + n_bytes.div_ceil(page_size)];
        let (bytes, status) = out.split_at_mut(n_bytes);
        let pages = bytes.chunks_mut(page_size).zip(status);
        for ((page, status), entry) in pages.zip(&mut self.rest) {
            match entry.decompress(&self.pages.packed, page) {
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
