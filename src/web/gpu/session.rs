//! Frames in parts for JavaScript. A session holds input until its codec takes it.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::batch::session::step_bytes;
use crate::batch::{Codec, FrameCompression, FrameDecompression, Progress, Report};
use crate::lz4::frame::FrameOptions;
use crate::{Error, Result};

/// A session, which a call takes and gives back at its end; a call that was cancelled keeps it.
#[derive(Debug)]
struct Place<S>(Rc<RefCell<Option<S>>>);

impl<S> Clone for Place<S> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<S> Place<S> {
    fn new(session: S) -> Self {
        Self(Rc::new(RefCell::new(Some(session))))
    }

    fn with<T>(&self, work: impl FnOnce(&mut S) -> T) -> Result<T> {
        self.0.borrow_mut().as_mut().map(work).ok_or_else(gone)
    }

    fn take(&self) -> Result<S> {
        self.0.borrow_mut().take().ok_or_else(gone)
    }

    fn put(&self, session: S) {
        *self.0.borrow_mut() = Some(session);
    }
}

fn gone() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "a call has this frame, or was cancelled or failed in it".into(),
    }
}

/// A frame that is being compressed.
#[wasm_bindgen(js_name = Compression)]
#[derive(Debug, Clone)]
pub struct WebCompression {
    place: Place<FrameCompression>,
    part_bytes: usize,
}

#[wasm_bindgen(js_class = Compression)]
impl WebCompression {
    /// Takes as much of `content` as fits until the session is to be compressed, and says how much.
    ///
    /// # Errors
    /// `ENGINE` while a call has it.
    pub fn add(&self, content: &Uint8Array) -> std::result::Result<u32, JsValue> {
        let add = |session: &mut FrameCompression| {
            let held = session.held();
            let room = self.part_bytes.saturating_sub(held.len());
            let taken = content.length().min(room as u32);
            append(held, &content.subarray(0, taken));
            taken
        };
        self.place.with(add).map_err(JsValue::from)
    }

    /// Whether the session takes no more content until it is compressed.
    #[must_use]
    #[wasm_bindgen(js_name = isFull)]
    pub fn is_full(&self) -> bool {
        let is_full = |session: &mut FrameCompression| session.held().len() >= self.part_bytes;
        self.place.with(is_full).unwrap_or(true)
    }

    /// Bytes of content compressed so far.
    #[must_use]
    #[wasm_bindgen(js_name = bytesIn)]
    pub fn bytes_in(&self) -> f64 {
        self.progress().bytes_in as f64
    }

    /// Bytes they became.
    #[must_use]
    #[wasm_bindgen(js_name = bytesOut)]
    pub fn bytes_out(&self) -> f64 {
        self.progress().bytes_out as f64
    }
}

impl WebCompression {
    pub(super) fn begin(codec: &Codec, options: &FrameOptions, is_stream: bool) -> Result<Self> {
        let part_bytes = (is_stream || codec.choice().engine == "cpu").then(|| step_bytes(codec));
        let session = FrameCompression::new(options, part_bytes)?;
        Ok(Self {
            part_bytes: session.part_bytes(codec),
            place: Place::new(session),
        })
    }

    pub(super) async fn compress(
        &self,
        codec: &mut Codec,
        is_last: bool,
    ) -> Result<(JsValue, Report)> {
        let mut session = self.place.take()?;
        let mut out = Vec::new();
        if is_last {
            session.finish_async(codec, &mut out).await?;
        } else {
            session.flush_async(codec, &mut out).await?;
        }
        let report = session.report().clone();
        self.place.put(session);
        Ok((Uint8Array::from(out.as_slice()).into(), report))
    }

    fn progress(&self) -> Progress {
        let progress = |session: &mut FrameCompression| session.progress();
        self.place.with(progress).unwrap_or_default()
    }
}

/// Frames that are being decompressed.
#[wasm_bindgen(js_name = Decompression)]
#[derive(Debug, Clone)]
pub struct WebDecompression {
    place: Place<FrameDecompression>,
    part_bytes: usize,
    /// Input from which a call is worth while.
    full_bytes: usize,
}

/// A call on a GPU takes milliseconds, however little there is to do.
const GPU_FULL_BYTES: usize = 8 << 20;

#[wasm_bindgen(js_class = Decompression)]
impl WebDecompression {
    /// Takes the start of `input`, and says how much of it.
    ///
    /// # Errors
    /// `ENGINE` while a call has it.
    pub fn add(&self, input: &Uint8Array) -> std::result::Result<u32, JsValue> {
        let add = |session: &mut FrameDecompression| {
            let taken = input.length().min(self.part_bytes as u32);
            append(session.room(), &input.subarray(0, taken));
            taken
        };
        self.place.with(add).map_err(JsValue::from)
    }

    /// Whether there is enough input to be worth a call.
    #[must_use]
    #[wasm_bindgen(js_name = isFull)]
    pub fn is_full(&self) -> bool {
        let is_full = |session: &mut FrameDecompression| session.room().len() >= self.full_bytes;
        self.place.with(is_full).unwrap_or(true)
    }

    /// Says that there is no more input.
    ///
    /// # Errors
    /// What is wrong at the end of the input.
    pub fn end(&self) -> std::result::Result<(), JsValue> {
        let ended = self.place.with(FrameDecompression::finish);
        ended.and_then(|ended| ended).map_err(JsValue::from)
    }

    /// Bytes of input done so far.
    #[must_use]
    #[wasm_bindgen(js_name = bytesIn)]
    pub fn bytes_in(&self) -> f64 {
        self.progress().bytes_in as f64
    }

    /// Bytes they became.
    #[must_use]
    #[wasm_bindgen(js_name = bytesOut)]
    pub fn bytes_out(&self) -> f64 {
        self.progress().bytes_out as f64
    }
}

impl WebDecompression {
    pub(super) fn begin(codec: &Codec, limit: Option<u64>, is_stream: bool) -> Self {
        let step = step_bytes(codec);
        let session = if is_stream || codec.choice().engine == "cpu" {
            FrameDecompression::with_group_bytes(codec, limit, step)
        } else {
            FrameDecompression::new(codec, limit)
        };
        Self {
            place: Place::new(session),
            part_bytes: step,
            full_bytes: match codec.choice().engine {
                "cpu" => 1,
                _ => GPU_FULL_BYTES,
            },
        }
    }

    /// Content, or null if there is none before more input comes.
    pub(super) async fn decompress(&self, codec: &mut Codec) -> Result<(JsValue, Report)> {
        let mut session = self.place.take()?;
        let mut out = Vec::new();
        let is_more = session.advance_async(codec, &mut out).await?;
        let report = session.report().clone();
        self.place.put(session);
        let value = match is_more {
            true => Uint8Array::from(out.as_slice()).into(),
            false => JsValue::NULL,
        };
        Ok((value, report))
    }

    fn progress(&self) -> Progress {
        let progress = |session: &mut FrameDecompression| session.progress();
        self.place.with(progress).unwrap_or_default()
    }
}

/// Appends an array of JavaScript, with one copy.
fn append(held: &mut Vec<u8>, bytes: &Uint8Array) {
    let start = held.len();
    held.resize(start + bytes.length() as usize, 0);
    bytes.copy_to(&mut held[start..]);
}
