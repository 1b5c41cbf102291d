//! Files and pages on the CPU with a dictionary. Calls are synchronous.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::files::{
    Format, FrameEncoder, PageDecoder, WebFrameDecoder, compress_at_once, compress_to_pages,
    decompress_at_once, frame_options, layout_words,
};
use super::level::Level;
use super::seek::WebFrameMap;
use crate::lz4::{Dictionary, train_dictionary};
use crate::{Error, Result};

/// Bytes that stand before each block. Its methods are the functions and constructors of this module, with the dictionary.
#[wasm_bindgen(js_name = Dictionary)]
#[derive(Debug)]
pub struct WebDictionary(Dictionary);

#[wasm_bindgen(js_class = Dictionary)]
impl WebDictionary {
    /// Creates a dictionary of the last 65,536 of `bytes`, after `makeRoom` if they are long. Default id: the xxHash32 of all of
    /// them.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], id: Option<u32>) -> Self {
        Self(match id {
            Some(id) => Dictionary::with_id(bytes, id),
            None => Dictionary::new(bytes),
        })
    }

    /// Returns the id that frames and batches of pages state; 0 if they state none.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// As the function `compress`.
    ///
    /// # Errors
    /// As the function; `INVALID_ARGUMENT` for records of Hadoop.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of the function of this name"
    )]
    pub fn compress(
        &self,
        content: &[u8],
        format: Format,
        level: Level,
        block_size: u32,
        content_checksum: bool,
        block_checksums: bool,
        index: bool,
    ) -> std::result::Result<Vec<u8>, JsValue> {
        let checksums = [content_checksum, block_checksums];
        let options = frame_options(block_size, level, checksums, index, Some(self.0.clone()));
        Ok(compress_at_once(content, format, options)?)
    }

    /// As the function `decompress`. Its errors are also `WRONG_DICTIONARY`, and `INVALID_ARGUMENT` for records of Hadoop.
    #[must_use]
    #[wasm_bindgen(unchecked_return_type = "Uint8Array<ArrayBuffer> | Error | undefined")]
    pub fn decompress(
        &self,
        bytes: &[u8],
        format: Format,
        max_output_size: f64,
        into: Option<Uint8Array>,
    ) -> JsValue {
        decompress_at_once(bytes, format, max_output_size as u64, into, Some(&self.0))
    }

    /// Returns a new `FrameEncoder`.
    ///
    /// # Errors
    /// As its constructor.
    #[wasm_bindgen(js_name = frameEncoder)]
    pub fn frame_encoder(
        &self,
        block_size: u32,
        level: Level,
        content_checksum: bool,
        block_checksums: bool,
        index: bool,
        content_size: Option<f64>,
    ) -> std::result::Result<FrameEncoder, JsValue> {
        let checksums = [content_checksum, block_checksums];
        let options = frame_options(block_size, level, checksums, index, Some(self.0.clone()));
        Ok(FrameEncoder::create(options, content_size)?)
    }

    /// Returns a new `FrameDecoder`.
    #[must_use]
    #[wasm_bindgen(js_name = frameDecoder)]
    pub fn frame_decoder(&self, max_output_size: f64, group_bytes: usize) -> WebFrameDecoder {
        WebFrameDecoder::with_dictionary(max_output_size, group_bytes, Some(&self.0))
    }

    /// As the function `frameLayout`.
    ///
    /// # Errors
    /// As the function.
    #[wasm_bindgen(js_name = frameLayout)]
    pub fn frame_layout(&self, bytes: &Uint8Array) -> std::result::Result<Vec<u8>, JsValue> {
        Ok(layout_words(bytes, Some(&self.0))?)
    }

    /// As the function `compressPages`.
    ///
    /// # Errors
    /// As the function.
    #[wasm_bindgen(js_name = compressPages)]
    pub fn compress_pages(
        &self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> std::result::Result<Vec<u8>, JsValue> {
        Ok(compress_to_pages(bytes, page_size, level, Some(&self.0))?)
    }

    /// Returns a new `PageDecoder`.
    ///
    /// # Errors
    /// As its constructor.
    #[wasm_bindgen(js_name = pageDecoder)]
    pub fn page_decoder(
        &self,
        packed: &Uint8Array,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> std::result::Result<PageDecoder, JsValue> {
        let dictionary = Some(self.0.clone());
        let decoder = PageDecoder::with_dictionary(packed, table, page_size, n_bytes, dictionary);
        Ok(decoder?)
    }

    /// Returns a new `FrameMap`.
    #[must_use]
    #[wasm_bindgen(js_name = frameMap)]
    pub fn frame_map(&self, n_bytes: f64, is_remote: bool) -> WebFrameMap {
        WebFrameMap::with_dictionary(n_bytes, is_remote, Some(&self.0))
    }
}

/// Returns the bytes of a dictionary that is trained on samples. `samples` has their bytes, one after the other, and `lengths` the
/// bytes of each. To be called after `makeRoom`.
///
/// # Errors
/// `INVALID_ARGUMENT` for a size above 65,536 or 0, and if there are no bytes; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = trainDictionary)]
pub fn train(
    samples: &[u8],
    lengths: &[u32],
    size: usize,
) -> std::result::Result<Vec<u8>, JsValue> {
    Ok(train_on(samples, lengths, size)?)
}

fn train_on(samples: &[u8], lengths: &[u32], size: usize) -> Result<Vec<u8>> {
    let mut parts = crate::memory::with_room(lengths.len())?;
    let mut rest = samples;
    for &length in lengths {
        let (part, after) =
            rest.split_at_checked(length as usize)
                .ok_or(Error::LengthMismatch {
                    name: "lengths",
                    expected: samples.len() as u64,
                    actual: lengths.iter().map(|&length| u64::from(length)).sum(),
                })?;
        parts.push(part);
        rest = after;
    }
    let dictionary = train_dictionary(&parts, size)?;
    Ok(dictionary.as_bytes().to_vec())
}
