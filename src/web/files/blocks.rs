//! Compression and decompression of whole contents in one call: short frames, and blocks without a frame.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::frames::{FrameEncoder, WebFrameDecoder};
use crate::lz4::formats;
use crate::web::bytes::copied;
use crate::web::level::Level;
use crate::{Error, Result};

/// Formats of compressed bytes.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// LZ4 frames.
    Frame,
    /// One LZ4 block.
    Block,
    /// LZ4 block preceded by the size of its content in four bytes.
    SizePrefixed,
    /// Records of Hadoop.
    Hadoop,
}

impl From<Format> for formats::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Frame => Self::Frame,
            Format::Block => Self::Block,
            Format::SizePrefixed => Self::SizePrefixed,
            Format::Hadoop => Self::Hadoop,
        }
    }
}

/// Compresses `content` in one call. All options except `level` apply to frames only.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unsupported block size, or content that is too long for one block; `OUT_OF_MEMORY`.
#[wasm_bindgen]
pub fn compress(
    content: &Uint8Array,
    format: Format,
    level: Level,
    block_size: u32,
    content_checksum: bool,
    block_checksums: bool,
    index: bool,
) -> std::result::Result<Vec<u8>, JsValue> {
    let content = copied(content)?;
    if format != Format::Frame {
        let blocks = formats::compress_to_blocks(&content, format.into(), level.into())?;
        return Ok(blocks);
    }
    let mut frame = FrameEncoder::new(
        block_size,
        level,
        content_checksum,
        block_checksums,
        index,
        Some(content.len() as f64),
    )?;
    frame.push(&content, true)?;
    Ok(frame.take())
}

/// Decompresses `bytes` in one call. If `into` is an array, writes to its start and returns that part of it. Returns
/// undefined for frames that are too long for one call.
///
/// # Errors
/// Errors of the compressed data; `OUTPUT_LIMIT` also if `into` is too short; `OUT_OF_MEMORY`.
#[wasm_bindgen]
pub fn decompress(
    bytes: &Uint8Array,
    format: Format,
    max_output_size: f64,
    into: &JsValue,
) -> std::result::Result<Option<Uint8Array>, JsValue> {
    Ok(decompress_at_once(
        bytes,
        format,
        max_output_size as u64,
        into,
    )?)
}

fn decompress_at_once(
    bytes: &Uint8Array,
    format: Format,
    limit: u64,
    into: &JsValue,
) -> Result<Option<Uint8Array>> {
    let bytes = copied(bytes)?;
    if format != Format::Frame {
        let content = formats::decompress_blocks(&bytes, format.into(), Some(limit))?;
        return given(&content, into).map(Some);
    }
    let mut frames = WebFrameDecoder::new(limit as f64, usize::MAX);
    match frames.decompress_at_once(&bytes) {
        Ok(Some(content)) => given(content, into).map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error.with_detected_format(&bytes)),
    }
}

/// Copies `content` to a new array, or to the start of the array `into`.
fn given(content: &[u8], into: &JsValue) -> Result<Uint8Array> {
    if into.is_undefined() {
        return Ok(content.into());
    }
    let into: &Uint8Array = into.unchecked_ref();
    let (needed, actual) = (content.len() as u64, into.length().into());
    if needed > actual {
        return Err(Error::OutputTooSmall { needed, actual });
    }
    let part = into.subarray(0, content.len() as u32);
    part.copy_from(content);
    Ok(part)
}
