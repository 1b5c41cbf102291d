//! Compression and decompression of whole contents in one call: short frames, and blocks without a frame.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::frames::{WebFrameDecoder, frame_options};
use crate::lz4::frame::{FrameOptions, compress_into};
use crate::lz4::{Dictionary, formats};
use crate::memory::with_room;
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

/// Bytes of a frame around a single stored block: header, size and checksum of the block, end mark and checksum.
const AROUND_BYTES: usize = 15 + 8 + 8;

/// Makes sure that there is memory for an argument of `nBytes`. Arguments that are slices are copied by code that cannot
/// report an error: it stops the module.
///
/// # Errors
/// `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = makeRoom)]
pub fn make_room(n_bytes: usize) -> std::result::Result<(), JsValue> {
    // Compilers may leave out an allocation that is not used.
    std::hint::black_box(with_room::<u8>(n_bytes)?);
    Ok(())
}

/// Compresses `content` in one call, after [`make_room`] if it is long. All options except `level` apply to frames only.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unsupported block size, or content that is too long for one block; `OUT_OF_MEMORY`.
#[wasm_bindgen]
pub fn compress(
    content: &[u8],
    format: Format,
    level: Level,
    block_size: u32,
    content_checksum: bool,
    block_checksums: bool,
    index: bool,
) -> std::result::Result<Vec<u8>, JsValue> {
    let checksums = [content_checksum, block_checksums];
    let options = frame_options(block_size, level, checksums, index, None);
    Ok(compress_at_once(content, format, options)?)
}

/// As [`compress`].
pub(in crate::web) fn compress_at_once(
    content: &[u8],
    format: Format,
    mut options: FrameOptions,
) -> Result<Vec<u8>> {
    if format != Format::Frame {
        let dictionary = options.dictionary.as_ref();
        return formats::compress_to_blocks(content, format.into(), options.level, dictionary);
    }
    options.content_size = Some(content.len() as u64);
    let mut made = with_room(content.len() + AROUND_BYTES)?;
    compress_into(content, &options, &mut made)?;
    Ok(made)
}

/// Decompresses `bytes` in one call, after [`make_room`] if they are long. If `into` is an array, writes to its start and
/// returns that part of it. Returns undefined for frames that are too long for one call.
///
/// An error is returned instead of thrown: results of functions that throw pass through an array and a table, which takes
/// as long as decoding a hundred bytes. Errors are those of the compressed data; `OUTPUT_LIMIT` also if `into` is too short;
/// and `OUT_OF_MEMORY`.
#[must_use]
#[wasm_bindgen(unchecked_return_type = "Uint8Array<ArrayBuffer> | Error | undefined")]
pub fn decompress(
    bytes: &[u8],
    format: Format,
    max_output_size: f64,
    into: Option<Uint8Array>,
) -> JsValue {
    decompress_at_once(bytes, format, max_output_size as u64, into, None)
}

/// As [`decompress`]. If there is a dictionary, it stands before each block.
pub(in crate::web) fn decompress_at_once(
    bytes: &[u8],
    format: Format,
    limit: u64,
    into: Option<Uint8Array>,
    dictionary: Option<&Dictionary>,
) -> JsValue {
    match content_of(bytes, format, limit, into, dictionary) {
        Ok(content) => content.into(),
        Err(error) => error.into(),
    }
}

fn content_of(
    bytes: &[u8],
    format: Format,
    limit: u64,
    into: Option<Uint8Array>,
    dictionary: Option<&Dictionary>,
) -> Result<Option<Uint8Array>> {
    if format != Format::Frame {
        let content = formats::decompress_blocks(bytes, format.into(), Some(limit), dictionary)?;
        return given(&content, into).map(Some);
    }
    let mut frames = WebFrameDecoder::with_dictionary(limit as f64, usize::MAX, dictionary);
    match frames.decompress_at_once(bytes) {
        Ok(Some(content)) => given(content, into).map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error.with_detected_format(bytes)),
    }
}

/// Copies `content` to a new array, or to the start of the array `into`.
fn given(content: &[u8], into: Option<Uint8Array>) -> Result<Uint8Array> {
    let Some(into) = into else {
        return Ok(content.into());
    };
    let (needed, actual) = (content.len() as u64, into.length().into());
    if needed > actual {
        return Err(Error::OutputTooSmall { needed, actual });
    }
    let part = into.subarray(0, content.len() as u32);
    part.copy_from(content);
    Ok(part)
}
