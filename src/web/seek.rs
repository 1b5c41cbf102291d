//! Random access to the content of a file that JavaScript reads.

use wasm_bindgen::prelude::*;

use crate::lz4::Dictionary;
use crate::lz4::frame::{ContentRead, FrameMap};

/// A range of bytes of the file.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy)]
pub struct ByteRange {
    /// Offset of the first byte.
    pub start: f64,
    /// Offset after the last byte.
    pub end: f64,
}

impl From<std::ops::Range<u64>> for ByteRange {
    fn from(range: std::ops::Range<u64>) -> Self {
        Self {
            start: range.start as f64,
            end: range.end as f64,
        }
    }
}

/// The known positions of the blocks of a file.
#[wasm_bindgen(js_name = FrameMap)]
#[derive(Debug)]
pub struct WebFrameMap(FrameMap);

#[wasm_bindgen(js_class = FrameMap)]
impl WebFrameMap {
    /// Creates the map of a file of `nBytes`. For a remote file, where each read is a request, the sizes of blocks that
    /// are not read are trusted.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(n_bytes: f64, is_remote: bool) -> Self {
        Self::with_dictionary(n_bytes, is_remote, None)
    }

    /// Returns the bytes to supply next until the content up to `end` is mapped; undefined if it is.
    #[must_use]
    pub fn wanted(&self, end: f64) -> Option<ByteRange> {
        self.0.wanted(end as u64).map(Into::into)
    }

    /// Accepts the bytes that [`wanted`](Self::wanted) returned.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn supply(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        Ok(self.0.supply(bytes)?)
    }

    /// Returns the number of bytes of content that are mapped.
    #[must_use]
    #[wasm_bindgen(getter, js_name = mappedBytes)]
    pub fn mapped_bytes(&self) -> f64 {
        self.0.mapped_bytes() as f64
    }

    /// Returns true if an index was found.
    #[must_use]
    #[wasm_bindgen(getter, js_name = hasIndex)]
    pub fn has_index(&self) -> bool {
        self.0.has_index()
    }

    /// Starts a read of content that is mapped.
    #[must_use]
    pub fn read(&self, start: f64, end: f64) -> WebContentRead {
        WebContentRead(self.0.read(start as u64..end as u64))
    }
}

impl WebFrameMap {
    /// As [`new`](Self::new). If there is a dictionary, it stands before each block.
    pub(super) fn with_dictionary(
        n_bytes: f64,
        is_remote: bool,
        dictionary: Option<&Dictionary>,
    ) -> Self {
        let n_bytes = n_bytes as u64;
        let map = match is_remote {
            true => FrameMap::trusting(n_bytes),
            false => FrameMap::new(n_bytes),
        };
        Self(map.with_dictionary(dictionary.cloned()))
    }
}

/// A read of a range of the content.
#[wasm_bindgen(js_name = ContentRead)]
#[derive(Debug)]
pub struct WebContentRead(ContentRead);

#[wasm_bindgen(js_class = ContentRead)]
impl WebContentRead {
    /// Returns the bytes to supply next; undefined if everything has been read.
    #[must_use]
    pub fn wanted(&self, map: &WebFrameMap) -> Option<ByteRange> {
        self.0.wanted(&map.0).map(Into::into)
    }

    /// Accepts the bytes that [`wanted`](Self::wanted) returned, and returns their content.
    ///
    /// # Errors
    /// The errors of the frames.
    pub fn supply(&mut self, map: &WebFrameMap, bytes: &[u8]) -> Result<Vec<u8>, JsValue> {
        let mut content = Vec::new();
        self.0.supply(&map.0, bytes, &mut content)?;
        Ok(content)
    }
}
