//! Blocks outside frames, and frames in one call.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::frames::{FrameEncoder, WebFrameDecoder};
use super::{Level, copied};
use crate::Error;
use crate::lz4::formats::{self, Format};
use crate::lz4::frame::Seen;

/// Compresses `content` to a frame at once: for content that is short.
///
/// # Errors
/// `INVALID_ARGUMENT` for a block size out of range; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = compressFrame)]
pub fn compress_frame(
    content: &[u8],
    block_size: u32,
    level: Level,
    content_checksum: bool,
    block_checksums: bool,
    index: bool,
) -> Result<Vec<u8>, JsValue> {
    let mut frame = FrameEncoder::new(
        block_size,
        level,
        content_checksum,
        block_checksums,
        index,
        Some(content.len() as f64),
    )?;
    frame.push(content, true)?;
    Ok(frame.take())
}

/// Decompresses frames at once: for content that is short. Undefined if it is too long for that.
///
/// # Errors
/// What is wrong with them.
#[wasm_bindgen(js_name = decompressFrames)]
pub fn decompress_frames(
    bytes: &[u8],
    max_output_size: f64,
) -> Result<Option<Uint8Array>, JsValue> {
    let mut frames = WebFrameDecoder::new(max_output_size, usize::MAX);
    let content = frames
        .decompress_at_once(bytes)
        .map_err(|error| error.having_seen(bytes))?;
    Ok(content.map(Into::into))
}

/// Decompresses one block, which is preceded by the size of its content in four bytes if `isSizePrefixed`.
///
/// # Errors
/// What is wrong with it.
#[wasm_bindgen(js_name = decompressBlock)]
pub fn decompress_block(
    block: &Uint8Array,
    is_size_prefixed: bool,
    max_output_size: f64,
) -> Result<Vec<u8>, JsValue> {
    let format = match is_size_prefixed {
        true => Format::SizePrefixed,
        false => Format::Block,
    };
    let limit = Some(max_output_size as u64);
    Ok(formats::decompress_blocks(&copied(block)?, format, limit)?)
}

/// Throws the error `NOT_LZ4` for `bytes` that are no frame; it says what they seem to be.
///
/// # Errors
/// `NOT_LZ4`; `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = notLz4)]
pub fn not_lz4(bytes: &Uint8Array) -> Result<(), JsValue> {
    let bytes = copied(bytes)?;
    let mut magic = [0; 4];
    for (to, from) in magic.iter_mut().zip(&bytes) {
        *to = *from;
    }
    let error = Error::NotLz4 {
        magic: u32::from_le_bytes(magic),
        seen: Seen::of(&bytes),
    };
    Err(error.into())
}
