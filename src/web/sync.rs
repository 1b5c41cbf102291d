//! Calls on the CPU that are done when they return, whether or not a codec is open.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::convert::{format_from, level_from, to_js_error};
use crate::lz4::frame::{self, Format, FrameOptions};
use crate::{Error, Result};

type JsBytes = std::result::Result<Uint8Array, JsValue>;

/// Compresses `bytes` to a frame.
///
/// # Errors
/// `INVALID_ARGUMENT` for options out of range.
#[wasm_bindgen(js_name = compressSync)]
pub fn compress_sync(
    bytes: Vec<u8>,
    block_size: u32,
    level: String,
    content_checksum: bool,
    block_checksums: bool,
    index: bool,
    max_output_size: f64,
) -> JsBytes {
    let compress = || {
        let options = FrameOptions {
            block_size,
            level: level_from(&level)?,
            content_checksum,
            block_checksums,
            content_size: Some(bytes.len() as u64),
            index,
        };
        let frame = frame::compress(&bytes, &options)?;
        let limit = max_output_size as u64;
        match frame.len() as u64 > limit {
            true => Err(Error::OutputLimit { limit }),
            false => Ok(frame),
        }
    };
    to_js(compress())
}

/// Decompresses `bytes` of a format (`frame`, `block` or `size-prefixed`) to at most `max_output_size` bytes.
///
/// # Errors
/// What is wrong with them.
#[wasm_bindgen(js_name = decompressSync)]
pub fn decompress_sync(bytes: Vec<u8>, format: String, max_output_size: f64) -> JsBytes {
    let limit = Some(max_output_size as u64);
    to_js(format_from(&format).and_then(|format| match format {
        Format::Frame => frame::decompress(&bytes, limit),
        block => frame::decompress_block_of(block, &bytes, limit),
    }))
}

/// The error for `bytes`, which are no frame, that says what they are.
#[must_use]
#[wasm_bindgen(js_name = notLz4)]
pub fn not_lz4(bytes: Vec<u8>) -> JsValue {
    let mut magic = [0; 4];
    let n_bytes = bytes.len().min(4);
    magic[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
    to_js_error(&Error::NotLz4 {
        magic: u32::from_le_bytes(magic),
        seen: frame::Seen::of(&bytes),
    })
}

fn to_js(bytes: Result<Vec<u8>>) -> JsBytes {
    match bytes {
        Ok(bytes) => Ok(Uint8Array::from(bytes.as_slice())),
        Err(error) => Err(to_js_error(&error)),
    }
}
