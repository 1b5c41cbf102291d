//! Pages from and to JavaScript arrays.

use js_sys::{Function, Promise, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::codec::GpuCodec;
use super::convert::{checked_pages, destination, first_error, packed_pages, read_table};
use super::dictionary::GpuDictionary;
use crate::batch::pipeline::decompress::check;
use crate::batch::pipeline::js::{JsPacked, OnProgress};
use crate::batch::pipeline::plan::Form;
use crate::js_bytes::JsBytes;
use crate::lz4::Dictionary;
use crate::web::level::Level;

#[wasm_bindgen]
impl GpuCodec {
    /// Compresses pages at the level `Fast` or `High`, to the start of `into` or to a new array. The arrays must not change until the
    /// call is done.
    #[wasm_bindgen(js_name = compressPages, unchecked_return_type = "Promise<GpuPackedPages>")]
    pub fn compress_pages(
        &self,
        bytes: Uint8Array,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        level: Level,
        into: Option<Uint8Array>,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let bytes = JsBytes::new(bytes);
        let into = into.map(JsBytes::new);
        let dictionary = dictionary.map(Dictionary::from);
        self.call(move |codec| {
            Box::pin(async move {
                let on_progress = OnProgress(on_progress);
                let form = Form {
                    page_size,
                    level: level.into(),
                    dictionary: dictionary.as_ref(),
                };
                let compressed = codec.compress(&bytes, form, into, on_progress);
                let (mut blocks, timings) = compressed.await?;
                Ok(packed_pages(blocks.packed()?, &blocks.table, &timings))
            })
        })
    }

    /// Decompresses pages, to the start of `into` or to a new array. The arrays must not change until the call is done. A corrupt
    /// page is filled with zeros; if `isStrict`, the call rejects with an error.
    #[expect(
        clippy::too_many_arguments,
        reason = "an object of options would add code to read its fields"
    )]
    #[wasm_bindgen(js_name = decompressPages, unchecked_return_type = "Promise<GpuCheckedPages>")]
    pub fn decompress_pages(
        &self,
        packed: Uint8Array,
        table: Uint32Array,
        #[wasm_bindgen(js_name = pageSize)] page_size: u32,
        #[wasm_bindgen(js_name = byteLength)] n_bytes: f64,
        into: Option<Uint8Array>,
        #[wasm_bindgen(js_name = isStrict)] is_strict: bool,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let bytes = JsBytes::new(packed);
        let dictionary = dictionary.map(Dictionary::from);
        let table = read_table(&table);
        self.call(move |codec| {
            Box::pin(async move {
                let pages = JsPacked {
                    bytes,
                    is_frame: false,
                    table: table?,
                    page_size,
                    n_bytes: n_bytes as u64,
                    dictionary,
                };
                let out = destination(into, check(&pages.view())?)?;
                let run = codec.decompress(&pages, &out, OnProgress(on_progress));
                let (errors, timings) = run.await?;
                if is_strict {
                    first_error(&errors)?;
                }
                checked_pages(out, &errors, &timings)
            })
        })
    }
}
