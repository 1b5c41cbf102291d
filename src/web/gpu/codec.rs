//! [`GpuCodec`], and exclusive access to it during a call.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::convert::Fields;
use crate::batch::web::JsCodec;
use crate::gpu::{Backend, DeviceRequest, GpuDevice, PowerPreference};
use crate::web::promise::promise;
use crate::{Error, Result};

/// The future of a call.
pub(super) type Work<'a> = Pin<Box<dyn Future<Output = Result<JsValue>> + 'a>>;

/// A GPU that compresses and decompresses pages. It runs one call at a time.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuCodec(Rc<Shared>);

/// State shared by the codec and its pending call.
#[derive(Debug)]
struct Shared {
    /// `None` during a call, and after `close`.
    codec: RefCell<Option<JsCodec>>,
    device: RefCell<GpuDevice>,
}

#[wasm_bindgen]
impl GpuCodec {
    /// Opens a GPU.
    #[wasm_bindgen(unchecked_return_type = "Promise<GpuCodec>")]
    pub fn open(
        #[wasm_bindgen(js_name = lowPower)] low_power: bool,
        #[wasm_bindgen(js_name = allowSoftware)] allow_software: bool,
    ) -> Promise {
        let request = DeviceRequest {
            power_preference: match low_power {
                true => PowerPreference::LowPower,
                false => PowerPreference::HighPerformance,
            },
            allow_software,
            ..DeviceRequest::default()
        };
        promise(async move { Ok(Self::new(GpuDevice::open_async(&request).await?).into()) })
    }

    /// Uses a device of the page. It is neither destroyed nor replaced if it is lost.
    #[wasm_bindgen(js_name = fromDevice, unchecked_return_type = "Promise<GpuCodec>")]
    pub fn from_device(
        #[wasm_bindgen(unchecked_param_type = "PageDevice")] device: JsValue,
    ) -> Promise {
        promise(async move { Ok(Self::new(GpuDevice::from_js_async(&device).await?).into()) })
    }

    /// Returns the name of the adapter, as reported by the browser.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.0.device.borrow().info().name.clone()
    }

    /// Returns the vendor of the adapter.
    #[wasm_bindgen(getter)]
    pub fn vendor(&self) -> String {
        self.0.device.borrow().info().vendor.clone()
    }

    /// Returns true for a software adapter.
    #[wasm_bindgen(getter)]
    pub fn software(&self) -> bool {
        self.0.device.borrow().info().is_software()
    }

    /// Returns the adapters that could not be opened: the name of each, followed by the reason.
    #[wasm_bindgen(getter, unchecked_return_type = "string[]")]
    pub fn rejected(&self) -> JsValue {
        let device = self.0.device.borrow();
        let texts = device.rejected().iter();
        let texts = texts.flat_map(|one| [one.candidate.as_str(), one.reason.as_str()]);
        let list: js_sys::Array = texts.map(JsValue::from_str).collect();
        list.into()
    }

    /// Returns the `GPUDevice` in use. A lost device is replaced before the end of the call that detects the loss.
    #[wasm_bindgen(unchecked_return_type = "PageDevice | undefined")]
    pub fn device(&self) -> JsValue {
        self.0.device.borrow().raw_web()
    }

    /// Returns the bytes of GPU memory in use, and of buffers kept for later calls.
    #[wasm_bindgen(
        getter,
        unchecked_return_type = "{ readonly inUse: number; readonly pooled: number }"
    )]
    pub fn memory(&self) -> JsValue {
        let (in_use, pooled) = self.0.device.borrow().memory_bytes();
        let fields = Fields::new();
        fields.set_in_use(in_use as f64);
        fields.set_pooled(pooled as f64);
        fields.into()
    }

    /// Destroys the device. Later calls fail.
    pub fn close(&self) {
        self.0.codec.take();
        self.0.device.borrow().destroy();
    }
}

impl Drop for GpuCodec {
    fn drop(&mut self) {
        self.close();
    }
}

impl GpuCodec {
    fn new(device: GpuDevice) -> Self {
        Self(Rc::new(Shared {
            device: RefCell::new(device.clone()),
            codec: RefCell::new(Some(JsCodec::new(device))),
        }))
    }

    /// Returns a promise of the result of `work`, which has exclusive access to the codec.
    pub(super) fn call(
        &self,
        work: impl for<'a> FnOnce(&'a mut JsCodec) -> Work<'a> + 'static,
    ) -> Promise {
        self.boxed(Box::new(work), false)
    }

    /// Like [`call`](Self::call), for calls on buffers of the page, whose errors the browser may report after the call.
    pub(super) fn call_resident(
        &self,
        work: impl for<'a> FnOnce(&'a mut JsCodec) -> Work<'a> + 'static,
    ) -> Promise {
        self.boxed(Box::new(work), true)
    }

    /// Implements both forms without generics, so that their large futures are compiled only once.
    #[inline(never)]
    fn boxed(
        &self,
        work: Box<dyn for<'a> FnOnce(&'a mut JsCodec) -> Work<'a>>,
        is_resident: bool,
    ) -> Promise {
        let shared = Rc::clone(&self.0);
        promise(async move {
            let taken = shared.codec.borrow_mut().take();
            let mut codec = taken.ok_or_else(|| Error::Engine {
                engine: "wasm",
                message: "the codec is closed, or in use by another call".into(),
            })?;
            let outcome = match work(&mut codec).await {
                Err(error) if is_resident => Err(codec.after(error).await),
                done => done,
            };
            shared.device.replace(codec.device().clone());
            shared.codec.replace(Some(codec));
            outcome
        })
    }
}
