//! Parts of frames for JavaScript, which has the file.

use wasm_bindgen::prelude::*;

use super::convert::{JsResult, to_js_error};
use crate::lz4::frame;

/// [`frame::FrameMap`] for JavaScript. Ranges are arrays of a start and an end.
#[wasm_bindgen(js_name = FrameMap)]
#[derive(Debug)]
pub struct WebFrameMap(frame::FrameMap);

#[wasm_bindgen(js_class = FrameMap)]
impl WebFrameMap {
    /// The map of a file of `n_bytes`.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(n_bytes: f64) -> Self {
        Self(frame::FrameMap::new(n_bytes as u64))
    }

    /// The bytes that are to be supplied next for the content up to `end` to be mapped; undefined if it is.
    #[must_use]
    pub fn wanted(&self, end: f64) -> Option<Vec<f64>> {
        self.0.wanted(end as u64).map(pair)
    }

    /// Takes the bytes that were wanted.
    ///
    /// # Errors
    /// What is wrong with the frames.
    pub fn supply(&mut self, bytes: &[u8]) -> JsResult<()> {
        self.0.supply(bytes).map_err(to_js_error)
    }

    /// Bytes of content that are mapped.
    #[must_use]
    #[wasm_bindgen(js_name = mappedBytes)]
    pub fn mapped_bytes(&self) -> f64 {
        self.0.mapped_bytes() as f64
    }

    /// Whether an index was found.
    #[must_use]
    #[wasm_bindgen(js_name = hasIndex)]
    pub fn has_index(&self) -> bool {
        self.0.has_index()
    }

    /// Begins to read content that is mapped.
    #[must_use]
    pub fn read(&self, start: f64, end: f64) -> WebContentRead {
        WebContentRead(self.0.read(start as u64..end as u64))
    }
}

/// [`frame::ContentRead`] for JavaScript.
#[wasm_bindgen(js_name = ContentRead)]
#[derive(Debug)]
pub struct WebContentRead(frame::ContentRead);

#[wasm_bindgen(js_class = ContentRead)]
impl WebContentRead {
    /// The bytes that are to be supplied next; undefined if all is read.
    #[must_use]
    pub fn wanted(&self, map: &WebFrameMap) -> Option<Vec<f64>> {
        self.0.wanted(&map.0).map(pair)
    }

    /// The content of the bytes that were wanted.
    ///
    /// # Errors
    /// What is wrong with the blocks.
    pub fn supply(&mut self, map: &WebFrameMap, bytes: &[u8]) -> JsResult<Vec<u8>> {
        let mut content = Vec::new();
        let supplied = self.0.supply(&map.0, bytes, &mut content);
        supplied.map_err(to_js_error)?;
        Ok(content)
    }
}

fn pair(range: std::ops::Range<u64>) -> Vec<f64> {
    vec![range.start as f64, range.end as f64]
}
