//! The codec as a class of JavaScript.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{choice_to_js, level_from, outcome_to_js, power_preference_from, set};
use super::pages::{self, Given};
use super::session::{WebCompression, WebDecompression};
use crate::batch::{BackendRequest, Codec, CodecOptions, Report};
use crate::lz4::BlockError;
use crate::lz4::frame::FrameOptions;
use crate::{Error, Result};

/// What a call does with the codec.
type Work = dyn for<'a> FnOnce(&'a mut Codec) -> Pin<Box<dyn Future<Output = Done> + 'a>>;

/// A value for JavaScript, and how it was made.
type Done = Result<(JsValue, Report)>;

/// [`Codec`] for JavaScript. Bytes are copied in and out of the module's memory.
///
/// A call takes the codec and gives it back at its end, so there is one call at a time. A call that traps keeps it.
#[wasm_bindgen(js_name = Codec)]
#[derive(Debug)]
pub struct WebCodec(Rc<RefCell<Option<Codec>>>);

#[wasm_bindgen(js_class = Codec)]
impl WebCodec {
    /// Opens a GPU.
    ///
    /// # Errors
    /// As [`Codec::new_async`], and `INVALID_ARGUMENT` for an unknown name.
    pub async fn open(
        power_preference: String,
        allow_software: bool,
    ) -> std::result::Result<WebCodec, JsValue> {
        let open = async {
            let options = CodecOptions {
                backend: BackendRequest::Wgpu,
                power_preference: power_preference_from(&power_preference)?,
                allow_software,
                ..CodecOptions::default()
            };
            Codec::new_async(options).await
        };
        match open.await {
            Ok(codec) => Ok(Self(Rc::new(RefCell::new(Some(codec))))),
            Err(error) => Err(error.into()),
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
        if let Some(device) = codec.as_ref().and_then(Codec::device) {
            device.destroy();
        }
        drop(codec);
    }

    /// Begins a frame. `content_size` is -1 if it is not known. A session of a stream, and not of a call, takes content
    /// in parts that do not let memory grow.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for options out of range.
    #[expect(
        clippy::too_many_arguments,
        reason = "an object would be read property by property"
    )]
    #[wasm_bindgen(js_name = beginCompression)]
    pub fn begin_compression(
        &self,
        block_size: u32,
        level: String,
        content_checksum: bool,
        block_checksums: bool,
        content_size: f64,
        index: bool,
        is_stream: bool,
    ) -> std::result::Result<WebCompression, JsValue> {
        let begin = |codec: &Codec| {
            let options = FrameOptions {
                block_size,
                level: level_from(&level)?,
                content_checksum,
                block_checksums,
                content_size: (content_size >= 0.0).then_some(content_size as u64),
                index,
            };
            WebCompression::begin(codec, &options, is_stream)
        };
        self.with(begin).map_err(JsValue::from)
    }

    /// Compresses what `session` holds, and with `is_last` ends the frame.
    #[must_use]
    #[wasm_bindgen(js_name = compressPart)]
    pub fn compress_part(&self, session: &WebCompression, is_last: bool) -> Call {
        let session = session.clone();
        self.call(async move |codec| session.compress(codec, is_last).await)
    }

    /// Begins to decompress frames to at most `max_output_size` bytes.
    ///
    /// # Errors
    /// `ENGINE` while a call has the codec.
    #[wasm_bindgen(js_name = beginDecompression)]
    pub fn begin_decompression(
        &self,
        max_output_size: f64,
        is_stream: bool,
    ) -> std::result::Result<WebDecompression, JsValue> {
        let limit = Some(max_output_size as u64);
        let begin = |codec: &Codec| Ok(WebDecompression::begin(codec, limit, is_stream));
        self.with(begin).map_err(JsValue::from)
    }

    /// Decompresses some of what `session` holds; null if there is nothing to be made of it before more comes.
    #[must_use]
    #[wasm_bindgen(js_name = decompressPart)]
    pub fn decompress_part(&self, session: &WebDecompression) -> Call {
        let session = session.clone();
        self.call(async move |codec| session.decompress(codec).await)
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
    /// What `look` sees of the codec.
    fn with<T>(&self, look: impl FnOnce(&Codec) -> Result<T>) -> Result<T> {
        self.0.borrow().as_ref().map_or_else(|| Err(in_use()), look)
    }

    /// A call that has the codec while `work` is under way.
    pub(super) fn call(
        &self,
        work: impl AsyncFnOnce(&mut Codec) -> Result<(JsValue, Report)> + 'static,
    ) -> Call {
        self.call_boxed(Box::new(move |codec| Box::pin(work(codec))))
    }

    /// The same, compiled once for all kinds of work.
    #[inline(never)]
    fn call_boxed(&self, work: Box<Work>) -> Call {
        let place = Rc::clone(&self.0);
        Call::new(|state| async move {
            let taken = place.borrow_mut().take();
            let Some(mut codec) = taken else {
                return Err(in_use().into());
            };
            let done = state.unless_cancelled(work(&mut codec));
            let outcome = done.await.unwrap_or(Err(Error::Cancelled));
            *place.borrow_mut() = Some(codec);
            match outcome {
                Ok((value, report)) => Ok(outcome_to_js(value, &report)),
                Err(error) => Err(error.into()),
            }
        })
    }
}

fn in_use() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "the codec is in use, or was lost in a call that failed".into(),
    }
}
