//! Dictionaries for GPUs.

use wasm_bindgen::prelude::*;

use crate::lz4::Dictionary;

/// Bytes that stand before each page or block. A call takes it, so pass a clone, which refers to the same memory.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct GpuDictionary(Dictionary);

#[wasm_bindgen]
impl GpuDictionary {
    /// Creates a dictionary of at most 65,536 bytes.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], id: u32) -> Self {
        Self(Dictionary::with_id(bytes, id))
    }

    /// Returns another reference to the dictionary.
    #[must_use]
    #[wasm_bindgen(js_name = clone)]
    pub fn again(&self) -> Self {
        self.clone()
    }
}

impl From<GpuDictionary> for Dictionary {
    fn from(dictionary: GpuDictionary) -> Self {
        dictionary.0
    }
}
