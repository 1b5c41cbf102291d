//! The codec, and how a call has it.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use crate::batch::Timings;
use crate::batch::js::JsCodec;
use crate::gpu::{Backend, DeviceRequest, GpuDevice, PowerPreference};
use crate::web::call::{Call, Done};
use crate::web::memory::{NOTHING, give};
use crate::{Error, Result};

/// A codec, which a call takes and gives back at its end, so there is one call at a time. A call that traps keeps it.
pub(super) struct WebCodec(Rc<RefCell<Option<JsCodec>>>);

/// What a call does with the codec.
type Work = dyn for<'a> FnOnce(&'a mut JsCodec) -> Pin<Box<dyn Future<Output = Result<Done>> + 'a>>;

/// Opens a GPU. The number of what the call gives is the codec.
#[unsafe(no_mangle)]
extern "C" fn open_codec(low_power: bool, allow_software: bool) -> *mut Call {
    let request = DeviceRequest {
        power_preference: match low_power {
            true => PowerPreference::LowPower,
            false => PowerPreference::HighPerformance,
        },
        allow_software,
        ..DeviceRequest::default()
    };
    Call::begin(Box::pin(async move {
        let codec = JsCodec::new(GpuDevice::open_async(&request).await?);
        let codec = WebCodec(Rc::new(RefCell::new(Some(codec))));
        Ok(Done {
            timings: Timings::default(),
            number: Box::into_raw(Box::new(codec)) as usize as f64,
            bytes: Vec::new(),
        })
    }))
}

/// Gives the name of the adapter; nothing while a call has the codec.
///
/// # Safety
/// The codec is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn codec_adapter(codec: *const WebCodec) -> u32 {
    // SAFETY: this function's contract.
    match unsafe { &*codec }.0.borrow().as_ref() {
        Some(codec) => give(codec.device().info().text().into_bytes()),
        None => NOTHING,
    }
}

/// The number of the device, which stays the module's; 0 while a call has the codec.
///
/// # Safety
/// The codec is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn codec_device(codec: *const WebCodec) -> u32 {
    // SAFETY: this function's contract.
    let codec = unsafe { &*codec }.0.borrow();
    codec
        .as_ref()
        .map_or(0, |codec| codec.device().as_web().number())
}

/// Gives the GPU up, and the codec.
///
/// # Safety
/// The codec is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_codec(codec: *mut WebCodec) {
    // SAFETY: this function's contract.
    let codec = unsafe { Box::from_raw(codec) }.0.take();
    if let Some(codec) = codec {
        codec.device().destroy();
    }
}

impl WebCodec {
    /// A call that has the codec while `work` is under way.
    pub(super) fn call(
        &self,
        work: impl AsyncFnOnce(&mut JsCodec) -> Result<Done> + 'static,
    ) -> *mut Call {
        self.call_boxed(Box::new(move |codec| Box::pin(work(codec))))
    }

    /// The same, compiled once for all kinds of work.
    #[inline(never)]
    fn call_boxed(&self, work: Box<Work>) -> *mut Call {
        let place = Rc::clone(&self.0);
        Call::begin(Box::pin(async move {
            let taken = place.borrow_mut().take();
            let mut held = Held {
                codec: Some(taken.ok_or_else(in_use)?),
                place,
            };
            match &mut held.codec {
                Some(codec) => work(codec).await,
                None => Err(in_use()),
            }
        }))
    }
}

/// The codec of a call, which is given back when the call ends, however it does.
struct Held {
    codec: Option<JsCodec>,
    place: Rc<RefCell<Option<JsCodec>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.place.replace(self.codec.take());
    }
}

fn in_use() -> Error {
    Error::Engine {
        engine: "wasm",
        message: "the codec is in use, or was lost in a call that failed".into(),
    }
}
