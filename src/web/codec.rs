//! The codec as a class of JavaScript.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{
    backend_from, choice_to_js, level_from, outcome_to_js, power_preference_from, set, to_js_error,
};
use super::pages::{self, Given};
use crate::batch::{Codec, CodecOptions, Progress, Report};
use crate::lz4::BlockError;
use crate::lz4::frame::FrameOptions;
use crate::{Error, Result};

/// [`Codec`] for JavaScript. Bytes are copied in and out of the module's memory.
///
/// A call takes the codec and gives it back at its end, so there is one call at a time. A call that traps keeps it.
#[wasm_bindgen(js_name = Codec)]
#[derive(Debug)]
pub struct WebCodec(Rc<RefCell<Option<Codec>>>);

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
        match open.await {
            Ok(codec) => Ok(Self(Rc::new(RefCell::new(Some(codec))))),
            Err(error) => Err(to_js_error(&error)),
        }
    }

    /// The engine, and why; undefined while a call has the codec.
    #[must_use]
    pub fn backend(&self) -> Option<Object> {
        self.0
            .borrow()
            .as_ref()
            .map(|codec| choice_to_js(codec.choice()))
    }

    /// The browser's `GPUDevice`; null on the CPU and while a call has the codec.
    #[must_use]
    pub fn device(&self) -> JsValue {
        #[cfg(gpu_engine)]
        if let Some(codec) = self.0.borrow().as_ref()
            && let Some(device) = codec.device().and_then(crate::gpu::GpuDevice::as_wgpu)
            && let Some(device) = device.raw_device().as_webgpu()
        {
            return AsRef::<JsValue>::as_ref(&device).clone();
        }
        JsValue::NULL
    }

    /// Gives the GPU up, and the codec.
    pub fn close(&self) {
        let codec = self.0.borrow_mut().take();
        #[cfg(gpu_engine)]
        if let Some(device) = codec.as_ref().and_then(Codec::device) {
            device.destroy();
        }
        drop(codec);
    }

    /// Compresses `bytes` to a frame.
    #[must_use]
    pub fn compress(
        &self,
        bytes: Vec<u8>,
        block_size: u32,
        level: String,
        content_checksum: bool,
        block_checksums: bool,
    ) -> Call {
        self.call(async move |codec| {
            let options = FrameOptions {
                block_size,
                level: level_from(&level)?,
                content_checksum,
                block_checksums,
                content_size: Some(bytes.len() as u64),
            };
            let (frame, report) = codec.compress_frame_async(&bytes, &options, go_on).await?;
            Ok((Uint8Array::from(frame.as_slice()).into(), report))
        })
    }

    /// Decompresses all frames in `bytes` to at most `max_output_size` bytes.
    #[must_use]
    pub fn decompress(&self, bytes: Vec<u8>, max_output_size: f64) -> Call {
        self.call(async move |codec| {
            let limit = Some(max_output_size as u64);
            let (content, report) = codec.decompress_frame_async(&bytes, limit, go_on).await?;
            Ok((Uint8Array::from(content.as_slice()).into(), report))
        })
    }

    /// Compresses pages. `bytes` must stay as they are until the call is done.
    #[must_use]
    #[wasm_bindgen(js_name = compressPages)]
    pub fn compress_pages(&self, bytes: Uint8Array, page_size: u32, level: String) -> Call {
        self.call(async move |codec| {
            let level = level_from(&level)?;
            let (pages, report) = pages::compress(codec, &bytes, page_size, level).await?;
            Ok((pages.into(), report))
        })
    }

    /// Decompresses pages. `packed` must stay as it is until the call is done.
    #[must_use]
    #[wasm_bindgen(js_name = decompressPages)]
    pub fn decompress_pages(
        &self,
        packed: Uint8Array,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> Call {
        let given = Given {
            packed,
            table,
            page_size,
            n_bytes: n_bytes as u64,
        };
        self.call(async move |codec| {
            let ((bytes, status), report) = pages::decompress(codec, &given).await?;
            let wrong = |(page, error): (usize, &Option<BlockError>)| Some((page, (*error)?));
            match status.iter().enumerate().find_map(wrong) {
                Some((page, source)) => Err(Error::CorruptPage { page, source }),
                None => Ok((bytes.into(), report)),
            }
        })
    }

    /// Decompresses pages and says of each what is wrong with it: `{ bytes, status }`, one byte a page, 0 or the
    /// number of a [`crate::lz4::BlockError`]. `packed` must stay as it is until the call is done.
    #[must_use]
    #[wasm_bindgen(js_name = decompressPagesStatus)]
    pub fn decompress_pages_status(
        &self,
        packed: Uint8Array,
        table: Vec<u32>,
        page_size: u32,
        n_bytes: f64,
    ) -> Call {
        let given = Given {
            packed,
            table,
            page_size,
            n_bytes: n_bytes as u64,
        };
        self.call(async move |codec| {
            let ((bytes, status), report) = pages::decompress(codec, &given).await?;
            let status: Vec<u8> = status
                .into_iter()
                .map(|error| error.map_or(0, |error| error as u8))
                .collect();
            let value = Object::new();
            set(&value, "bytes", bytes);
            set(&value, "status", Uint8Array::from(status.as_slice()));
            Ok((value.into(), report))
        })
    }
}

impl WebCodec {
    /// A call that has the codec while `work` is under way.
    fn call(
        &self,
        work: impl AsyncFnOnce(&mut Codec) -> Result<(JsValue, Report)> + 'static,
    ) -> Call {
        let place = Rc::clone(&self.0);
        Call::new(async move {
            let taken = place.borrow_mut().take();
            let Some(mut codec) = taken else {
                return Err(to_js_error(&Error::Engine {
                    engine: "wasm",
                    message: "the codec is in use, or was lost in a call that failed".into(),
                }));
            };
            let outcome = work(&mut codec).await;
            *place.borrow_mut() = Some(codec);
            match outcome {
                Ok((value, report)) => Ok(outcome_to_js(value, &report)),
                Err(error) => Err(to_js_error(&error)),
            }
        })
    }
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
