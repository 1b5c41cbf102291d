//! The positions of the blocks of a frame, for callers that pass parts of it to workers.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::Result;
use crate::lz4::Dictionary;
use crate::lz4::frame::{FrameLayout, put_word};
use crate::memory::reserve;

/// Returns the layout of `bytes`; nothing unless they are one whole frame of independent blocks. Checksums and blocks are not
/// read.
///
/// The result has little-endian words of four bytes: the maximum bytes of content of a block; a sum of 1 if blocks have
/// checksums, 2 if the frame has a content size, and 4 if it has a content checksum; that size and that checksum; and the
/// offsets of the size field of each block and of the end mark.
///
/// # Errors
/// `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = frameLayout)]
pub fn frame_layout(bytes: &Uint8Array) -> std::result::Result<Vec<u8>, JsValue> {
    Ok(layout_words(bytes, None)?)
}

/// As [`frame_layout`], for a frame of independent blocks with this dictionary before each, or without one.
pub(in crate::web) fn layout_words(
    bytes: &Uint8Array,
    dictionary: Option<&Dictionary>,
) -> Result<Vec<u8>> {
    let read = |at: usize, to: &mut [u8]| {
        let end = at + to.len();
        bytes.subarray(at as u32, end as u32).copy_to(to);
        Ok(())
    };
    let n_bytes = bytes.length() as usize;
    let mut words = vec![0; 16];
    let found = FrameLayout::read(
        n_bytes,
        &read,
        dictionary,
        |header| !header.linked,
        &mut |at, _| {
            reserve(&mut words, 8)?;
            put_word(&mut words, at as u32);
            Ok(())
        },
    )?;
    let Some(FrameLayout {
        header,
        end,
        content_checksum,
    }) = found
    else {
        return Ok(Vec::new());
    };
    let Ok(content_size) = u32::try_from(header.content_size.unwrap_or(0)) else {
        // More than a call returns.
        return Ok(Vec::new());
    };
    let flags = u32::from(header.block_checksums)
        | u32::from(header.content_size.is_some()) << 1
        | u32::from(header.content_checksum) << 2;
    let checksum = content_checksum.unwrap_or(0);
    let head = [header.block_max_size, flags, content_size, checksum];
    for (bytes, word) in words.chunks_exact_mut(4).zip(head) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    put_word(&mut words, end as u32);
    Ok(words)
}
