//! The positions of the blocks of a frame, for callers that pass parts of it to workers.

use js_sys::{Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::lz4::frame::FrameLayout;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** The structure of a frame of independent blocks. */
export interface FrameLayout {
  /** Maximum bytes of content of a block. */
  readonly blockSize: number;
  readonly blockChecksums: boolean;
  readonly contentSize: number | undefined;
  readonly contentChecksum: number | undefined;
  /** Offset of the size field of each block, and of the end mark. */
  readonly starts: Float64Array<ArrayBuffer>;
}
"#;

#[wasm_bindgen]
extern "C" {
    /// A plain JavaScript object: `FrameLayout`.
    #[wasm_bindgen(js_name = Object, typescript_type = "FrameLayout")]
    pub type Layout;
    #[wasm_bindgen(constructor, js_class = "Object")]
    fn new() -> Layout;
    #[wasm_bindgen(method, setter, js_name = blockSize)]
    fn set_block_size(this: &Layout, n_bytes: u32);
    #[wasm_bindgen(method, setter, js_name = blockChecksums)]
    fn set_block_checksums(this: &Layout, has_checksums: bool);
    #[wasm_bindgen(method, setter, js_name = contentSize)]
    fn set_content_size(this: &Layout, n_bytes: Option<f64>);
    #[wasm_bindgen(method, setter, js_name = contentChecksum)]
    fn set_content_checksum(this: &Layout, checksum: Option<u32>);
    #[wasm_bindgen(method, setter)]
    fn set_starts(this: &Layout, starts: &Float64Array);
}

/// Returns the layout of `bytes`; `undefined` unless they are one whole frame of independent blocks. Checksums and blocks are
/// not read.
///
/// # Errors
/// `OUT_OF_MEMORY`.
#[wasm_bindgen(js_name = frameLayout)]
pub fn frame_layout(bytes: &Uint8Array) -> Result<Option<Layout>, JsValue> {
    let n_bytes = bytes.length() as usize;
    let read = |at: usize, to: &mut [u8]| {
        let end = at + to.len();
        bytes.subarray(at as u32, end as u32).copy_to(to);
        Ok(())
    };
    let Some(found) = FrameLayout::read(n_bytes, read, |header| !header.linked)? else {
        return Ok(None);
    };
    let starts = Float64Array::new_with_length(found.blocks.len() as u32 + 1);
    let offsets = found.blocks.iter().map(|&(at, _)| at).chain([found.end]);
    for (i, at) in (0..).zip(offsets) {
        starts.set_index(i, at as f64);
    }
    let layout = Layout::new();
    layout.set_block_size(found.header.block_max_size);
    layout.set_block_checksums(found.header.block_checksums);
    layout.set_content_size(found.header.content_size.map(|n_bytes| n_bytes as f64));
    layout.set_content_checksum(found.content_checksum);
    layout.set_starts(&starts);
    Ok(Some(layout))
}
