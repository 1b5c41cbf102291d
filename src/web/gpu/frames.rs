//! Frames from and to JavaScript arrays. The CPU module writes and reads their headers, end marks and content
//! checksums.

use js_sys::{Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

use super::codec::GpuCodec;
use super::convert::{Fields, destination, read_frame, timing};
use super::dictionary::GpuDictionary;
use crate::Error;
use crate::batch::pipeline::frame_blocks::FrameBlocks;
use crate::batch::pipeline::js::OnProgress;
use crate::batch::pipeline::plan::Form;
use crate::js_bytes::JsBytes;
use crate::lz4::Dictionary;
use crate::web::level::Level;

#[wasm_bindgen]
impl GpuCodec {
    /// Compresses content to the blocks of a frame. Each block is preceded by its size and followed by its checksum if
    /// `blockChecksums`. `encode` must return the block of one page of content in the same form. The array of the blocks
    /// begins with `bytesBefore` and ends with `bytesAfter` zeros, for header and end of a frame. The content must not change
    /// until the call is done.
    #[expect(
        clippy::too_many_arguments,
        reason = "an object of options would add code to read its fields"
    )]
    #[wasm_bindgen(js_name = compressBlocks, unchecked_return_type = "Promise<GpuBlocks>")]
    pub fn compress_blocks(
        &self,
        content: Uint8Array,
        #[wasm_bindgen(js_name = blockSize)] block_size: u32,
        level: Level,
        #[wasm_bindgen(js_name = blockChecksums)] block_checksums: bool,
        #[wasm_bindgen(js_name = bytesBefore)] bytes_before: u32,
        #[wasm_bindgen(js_name = bytesAfter)] bytes_after: u32,
        #[wasm_bindgen(unchecked_param_type = "(page: Uint8Array) => Uint8Array")] encode: Function,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let content = JsBytes::new(content);
        let dictionary = dictionary.map(Dictionary::from);
        let around = (bytes_before as usize, bytes_after as usize);
        let mut blocks = FrameBlocks::new(encode, block_checksums, around);
        self.call(move |codec| {
            Box::pin(async move {
                let on_progress = OnProgress(on_progress);
                let form = Form {
                    page_size: block_size,
                    level: level.into(),
                    dictionary: dictionary.as_ref(),
                };
                let compressed = codec.compress_frame(&mut blocks, &content, form, on_progress);
                let timings = compressed.await?;
                let fields = Fields::new();
                let blocks = blocks.into_array()?;
                fields.set_blocks(&blocks);
                fields.set_timing(&timing(&timings));
                Ok(fields.into())
            })
        })
    }

    /// Decompresses a frame whose blocks are pages, to the start of `into` or to a new array. Returns `undefined` for
    /// bytes that are not such a frame, have more than `limit` bytes of content, or contain a corrupt block. The array
    /// must not change until the call is done. `onContent` receives the array of the content, without any yet, and the
    /// checksum of the content that is stored in the frame, if it has one, which the caller must verify.
    #[wasm_bindgen(
        js_name = decompressFrame,
        unchecked_return_type = "Promise<GpuFrameContent | undefined>"
    )]
    pub fn decompress_frame(
        &self,
        frame: Uint8Array,
        limit: f64,
        into: Option<Uint8Array>,
        #[wasm_bindgen(
            js_name = onContent,
            unchecked_param_type = "(content: Uint8Array, checksum: number | null) => void"
        )]
        on_content: Function,
        #[wasm_bindgen(js_name = onProgress, unchecked_optional_param_type = "GpuProgress")]
        on_progress: Option<Function>,
        #[wasm_bindgen(unchecked_optional_param_type = "GpuDictionary")] dictionary: Option<
            GpuDictionary,
        >,
    ) -> Promise {
        let frame = JsBytes::new(frame);
        let dictionary = dictionary.map(Dictionary::from);
        self.call(move |codec| {
            Box::pin(async move {
                let Some((pages, checksum)) = read_frame(frame, limit as u64, dictionary)? else {
                    return Ok(JsValue::UNDEFINED);
                };
                let n_bytes = pages.n_bytes as usize;
                let content = destination(into, n_bytes)?;
                let array = content.part(0..n_bytes)?;
                let checksum = checksum.map_or(JsValue::NULL, JsValue::from);
                let told = on_content.call2(&JsValue::UNDEFINED, &array, &checksum);
                told.map_err(|_| Error::Cancelled)?;
                let run = codec.decompress(&pages, &content, OnProgress(on_progress));
                let (errors, timings) = run.await?;
                if errors.iter().any(Option::is_some) {
                    return Ok(JsValue::UNDEFINED);
                }
                let fields = Fields::new();
                fields.set_bytes(&content.into_array());
                fields.set_timing(&timing(&timings));
                Ok(fields.into())
            })
        })
    }
}
