//! Containers of other formats with LZ4 inside: Blosc chunks, and chunks of HDF5.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::bytes::copied;
use super::level::Level;
use crate::Result;
use crate::lz4::formats::blosc::{self, BloscOptions};
use crate::lz4::formats::hdf5;

/// The shuffle of the elements of content before it is compressed.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    /// No shuffle.
    None,
    /// Byte shuffle.
    Byte,
    /// Bit shuffle.
    Bit,
}

impl From<Shuffle> for blosc::Shuffle {
    fn from(shuffle: Shuffle) -> Self {
        match shuffle {
            Shuffle::None => Self::None,
            Shuffle::Byte => Self::Byte,
            Shuffle::Bit => Self::Bit,
        }
    }
}

/// Decompresses a Blosc chunk.
///
/// # Errors
/// Errors of the chunk; `NOT_LZ4` if another compressor has written it; `OUTPUT_LIMIT`; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = decodeBlosc)]
pub fn decode_blosc(
    bytes: &Uint8Array,
    max_output_size: f64,
) -> std::result::Result<Vec<u8>, JsValue> {
    converted(bytes, |bytes| {
        blosc::decompress(bytes, Some(max_output_size as u64))
    })
}

/// Compresses `content` to a Blosc chunk; without a level stores it.
///
/// # Errors
/// `INVALID_ARGUMENT` for sizes that the format does not allow; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = encodeBlosc)]
pub fn encode_blosc(
    content: &Uint8Array,
    element_size: usize,
    shuffle: Shuffle,
    block_size: usize,
    level: Option<Level>,
) -> std::result::Result<Vec<u8>, JsValue> {
    let options = BloscOptions {
        element_size,
        shuffle: shuffle.into(),
        block_size,
        level: level.map(Into::into),
    };
    converted(content, |content| blosc::compress(content, &options))
}

/// Decompresses a chunk of HDF5's filter LZ4.
///
/// # Errors
/// Errors of the chunk; `OUTPUT_LIMIT`; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = decodeHdf5Lz4)]
pub fn decode_hdf5_lz4(
    bytes: &Uint8Array,
    max_output_size: f64,
) -> std::result::Result<Vec<u8>, JsValue> {
    converted(bytes, |bytes| {
        hdf5::decompress_lz4(bytes, Some(max_output_size as u64))
    })
}

/// Decompresses a chunk of HDF5's filter bitshuffle with LZ4.
///
/// # Errors
/// Errors of the chunk; `INVALID_ARGUMENT` for an element size of 0; `OUTPUT_LIMIT`; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = decodeBitshuffle)]
pub fn decode_bitshuffle(
    bytes: &Uint8Array,
    element_size: usize,
    max_output_size: f64,
) -> std::result::Result<Vec<u8>, JsValue> {
    converted(bytes, |bytes| {
        hdf5::decompress_bitshuffle(bytes, element_size, Some(max_output_size as u64))
    })
}

/// Undoes HDF5's filter bitshuffle without compression, in blocks of `block_elements`; 0 for its default.
///
/// # Errors
/// `INVALID_ARGUMENT` for sizes that do not fit; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = bitUnshuffle)]
pub fn bit_unshuffle(
    bytes: &Uint8Array,
    element_size: usize,
    block_elements: usize,
) -> std::result::Result<Vec<u8>, JsValue> {
    converted(bytes, |bytes| {
        hdf5::bit_unshuffle(bytes, element_size, Some(block_elements))
    })
}

/// Copies `bytes` into the module, and converts them.
fn converted(
    bytes: &Uint8Array,
    convert: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
) -> std::result::Result<Vec<u8>, JsValue> {
    let bytes = copied(bytes)?;
    Ok(convert(&bytes)?)
}
