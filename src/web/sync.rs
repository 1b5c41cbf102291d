//! Calls on the CPU that are done when they return, whether or not a codec is open.

use wasm_bindgen::prelude::*;

use super::convert::{JsResult, format_of, level_of, to_js_error};
use crate::Error;
use crate::lz4::frame::{self, Format, FrameOptions};

/// Compresses `bytes` to a frame.
///
/// # Errors
/// `INVALID_ARGUMENT` for options out of range.
#[wasm_bindgen(js_name = compressSync)]
pub fn compress_sync(
    bytes: &[u8],
    block_size: u32,
    is_high: bool,
    content_checksum: bool,
    block_checksums: bool,
    index: bool,
    max_output_size: f64,
) -> JsResult<Vec<u8>> {
    let compress = || {
        let options = FrameOptions {
            block_size,
            level: level_of(is_high),
            content_checksum,
            block_checksums,
            content_size: Some(bytes.len() as u64),
            index,
        };
        let frame = frame::compress(bytes, &options)?;
        let limit = max_output_size as u64;
        match frame.len() as u64 > limit {
            true => Err(Error::OutputLimit { limit }),
            false => Ok(frame),
        }
    };
    compress().map_err(to_js_error)
}

/// Decompresses `bytes` of a format (0 for frames, 1 for a block, 2 for one with its size in front) to at most `max_output_size` bytes.
///
/// # Errors
/// What is wrong with them.
#[wasm_bindgen(js_name = decompressSync)]
pub fn decompress_sync(bytes: &[u8], format: u32, max_output_size: f64) -> JsResult<Vec<u8>> {
    let limit = Some(max_output_size as u64);
    let content = match format_of(format) {
        Format::Frame => frame::decompress(bytes, limit),
        block => frame::decompress_block_of(block, bytes, limit),
    };
    content.map_err(to_js_error)
}

/// The error for `bytes`, which are no frame, that says what they are.
#[must_use]
#[wasm_bindgen(js_name = notLz4)]
pub fn not_lz4(bytes: &[u8]) -> JsValue {
    let mut magic = [0; 4];
    let n_bytes = bytes.len().min(4);
    magic[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
    to_js_error(Error::NotLz4 {
        magic: u32::from_le_bytes(magic),
        seen: frame::Seen::of(bytes),
    })
}
