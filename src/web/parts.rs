//! Parts of a frame, for the workers of the package, which make its blocks.

use std::hash::Hasher;

use twox_hash::XxHash32;
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, to_js_error};
use crate::lz4::Level;
use crate::lz4::frame::{FrameOptions, FrameWriter};

/// The header of a frame with these options.
///
/// # Errors
/// `INVALID_ARGUMENT` for a block size out of range.
#[wasm_bindgen(js_name = frameHeader)]
pub fn frame_header(
    block_size: u32,
    content_checksum: bool,
    block_checksums: bool,
    content_size: Option<f64>,
) -> JsResult<Vec<u8>> {
    let options = FrameOptions {
        block_size,
        level: Level::Fast,
        content_checksum,
        block_checksums,
        content_size: content_size.map(|n_bytes| n_bytes as u64),
        index: false,
    };
    let mut header = Vec::new();
    FrameWriter::new(&options, &mut header).map_err(to_js_error)?;
    Ok(header)
}

/// The checksum of a content that comes in parts: xxHash32 with seed 0.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ContentSum(XxHash32);

impl Default for ContentSum {
    fn default() -> Self {
        Self(XxHash32::with_seed(0))
    }
}

#[wasm_bindgen]
impl ContentSum {
    /// Of nothing yet.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.write(part);
    }

    /// The checksum of all parts so far.
    #[must_use]
    pub fn value(&self) -> u32 {
        self.0.finish_32()
    }
}
