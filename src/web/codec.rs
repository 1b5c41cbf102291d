//! The codec as a class of JavaScript.

use std::ops::ControlFlow;

use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use super::convert::{
    backend_from, choice_to_js, level_from, outcome_to_js, pages_from, pages_to_js,
    power_preference_from, set, to_js_error,
};
use crate::batch::{Codec, CodecOptions, Progress};
use crate::lz4::frame::FrameOptions;

type JsResult = std::result::Result<JsValue, JsValue>;

/// [`Codec`] for JavaScript. Bytes are copied in and out of the module's memory.
#[wasm_bindgen(js_name = Codec)]
#[derive(Debug)]
pub struct WebCodec(Codec);

#[wasm_bindgen(js_class = Codec)]
impl WebCodec {
    /// Opens the engine `backend`: `auto`, `cpu` or `webgpu`.
    ///
    /// # Errors
    /// As [`Codec::new_async`], and `INVALID_ARGUMENT` for unknown names.
    pub async fn open(
        backend: String,
        power_preference: String,
        allow_software: bool,
    ) -> std::result::Result<WebCodec, JsValue> {
        console_error_panic_hook::set_once();
        let open = async {
            let options = CodecOptions {
                backend: backend_from(&backend)?,
                power_preference: power_preference_from(&power_preference)?,
                allow_software,
                ..CodecOptions::default()
            };
            Codec::new_async(options).await
        };
        open.await.map(Self).map_err(|error| to_js_error(&error))
    }

    /// The engine, and why.
    #[must_use]
    pub fn backend(&self) -> Object {
        choice_to_js(self.0.choice())
    }

    /// The browser's `GPUDevice`, or null on the CPU.
    #[must_use]
    pub fn device(&self) -> JsValue {
        #[cfg(feature = "wgpu")]
        if let Some(device) = self.0.device().and_then(crate::gpu::GpuDevice::as_wgpu)
            && let Some(device) = device.raw_device().as_webgpu()
        {
            return AsRef::<JsValue>::as_ref(&device).clone();
        }
        JsValue::NULL
    }

    /// Gives the GPU up.
    pub fn close(&self) {
        #[cfg(feature = "wgpu")]
        if let Some(device) = self.0.device() {
            device.destroy();
        }
    }

    /// Compresses `bytes` to a frame.
    ///
    /// # Errors
    /// As [`Codec::compress_frame_async`].
    pub async fn compress(
        &mut self,
        bytes: Vec<u8>,
        block_size: u32,
        level: String,
        content_checksum: bool,
        block_checksums: bool,
    ) -> JsResult {
        let compress = async {
            let options = FrameOptions {
                block_size,
                level: level_from(&level)?,
                content_checksum,
                block_checksums,
                content_size: Some(bytes.len() as u64),
            };
            self.0.compress_frame_async(&bytes, &options, go_on).await
        };
        let (frame, report) = compress.await.map_err(|error| to_js_error(&error))?;
        Ok(outcome_to_js(Uint8Array::from(frame.as_slice()), &report))
    }

    /// Decompresses all frames in `bytes` to at most `max_output_size` bytes.
    ///
    /// # Errors
    /// As [`Codec::decompress_frame_async`].
    pub async fn decompress(&mut self, bytes: Vec<u8>, max_output_size: Option<f64>) -> JsResult {
        let limit = max_output_size.map(|limit| limit as u64);
        let outcome = self.0.decompress_frame_async(&bytes, limit, go_on).await;
        let (content, report) = outcome.map_err(|error| to_js_error(&error))?;
        Ok(outcome_to_js(Uint8Array::from(content.as_slice()), &report))
    }

    /// Compresses pages.
    ///
    /// # Errors
    /// As [`Codec::compress_pages_async`].
    #[wasm_bindgen(js_name = compressPages)]
    pub async fn compress_pages(
        &mut self,
        bytes: Vec<u8>,
        page_size: u32,
        level: String,
    ) -> JsResult {
        let compress = async {
            let level = level_from(&level)?;
            let (pages, report) = self
                .0
                .compress_pages_async(&bytes, page_size, level)
                .await?;
            Ok((pages_to_js(&pages)?, report))
        };
        let outcome: crate::Result<_> = compress.await;
        let (pages, report) = outcome.map_err(|error| to_js_error(&error))?;
        Ok(outcome_to_js(pages, &report))
    }

    /// Decompresses pages.
    ///
    /// # Errors
    /// As [`Codec::decompress_pages_async`].
    #[wasm_bindgen(js_name = decompressPages)]
    pub async fn decompress_pages(
        &mut self,
        packed: Vec<u8>,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> JsResult {
        let decompress = async {
            let pages = pages_from(packed, &table, page_size, n_bytes)?;
            self.0.decompress_pages_async(&pages).await
        };
        let (bytes, report) = decompress.await.map_err(|error| to_js_error(&error))?;
        Ok(outcome_to_js(Uint8Array::from(bytes.as_slice()), &report))
    }

    /// Decompresses pages and says of each what is wrong with it: `{ bytes, status }`, one byte a page, 0 or the
    /// number of a [`crate::lz4::BlockError`].
    ///
    /// # Errors
    /// As [`Codec::decompress_pages_status_async`].
    #[wasm_bindgen(js_name = decompressPagesStatus)]
    pub async fn decompress_pages_status(
        &mut self,
        packed: Vec<u8>,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> JsResult {
        let decompress = async {
            let pages = pages_from(packed, &table, page_size, n_bytes)?;
            self.0.decompress_pages_status_async(&pages).await
        };
        let outcome = decompress.await.map_err(|error| to_js_error(&error))?;
        let ((bytes, status), report) = outcome;
        let status: Vec<u8> = status
            .into_iter()
            .map(|error| error.map_or(0, |error| error as u8))
            .collect();
        let value = Object::new();
        set(&value, "bytes", Uint8Array::from(bytes.as_slice()));
        set(&value, "status", Uint8Array::from(status.as_slice()));
        Ok(outcome_to_js(value, &report))
    }
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
