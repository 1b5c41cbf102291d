//! [`GpuBackend`] as a JavaScript class: operations on arrays, on the CPU or the GPU.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Object, Promise};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, floats, object, promise};
use super::device::WebDevice;
use super::op::call;
use crate::Error;
use crate::tensor::{BackendUsed, GpuBackend};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** The engine that ran an operation: this device, or the CPU with the reason. */
export type BackendUsed =
  | { readonly engine: "webgpu"; readonly device: string; readonly reason: null }
  | { readonly engine: "cpu"; readonly device: null; readonly reason: string };
"#;

/// [`GpuBackend`] for JavaScript. `None` during a call: only one call can run at a time.
#[wasm_bindgen(js_name = Backend)]
#[derive(Debug)]
pub struct WebBackend(Rc<RefCell<Option<GpuBackend>>>);

#[wasm_bindgen(js_class = Backend)]
impl WebBackend {
    /// Creates a backend that opens a GPU once there is enough work for it.
    #[must_use]
    pub fn lazy() -> Self {
        Self::of(GpuBackend::default())
    }

    /// Creates a backend that runs everything on a device.
    #[must_use]
    #[wasm_bindgen(js_name = withDevice)]
    pub fn with_device(device: &WebDevice) -> Self {
        Self::of(GpuBackend::with_device(device.device.clone()))
    }

    /// Returns the engine that ran the last operation; null before the first.
    #[must_use]
    #[wasm_bindgen(getter, js_name = lastBackend, unchecked_return_type = "BackendUsed | null")]
    pub fn last_backend(&self) -> Option<Object> {
        let backend = self.0.borrow();
        let (engine, device, reason) = match backend.as_ref()?.last_backend()? {
            BackendUsed::Gpu { device, .. } => ("webgpu", device.into(), JsValue::NULL),
            BackendUsed::Cpu { reason } => ("cpu", JsValue::NULL, reason.into()),
        };
        Some(object(&[
            ("engine", engine.into()),
            ("device", device),
            ("reason", reason),
        ]))
    }

    /// Runs an operation on arrays with these shapes; returns a new array.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn run(
        &self,
        #[wasm_bindgen(js_name = op, unchecked_param_type = "Op")] given: &Array,
        #[wasm_bindgen(unchecked_param_type = "readonly Float32Array[]")] arrays: &Array,
        #[wasm_bindgen(unchecked_param_type = "readonly Uint32Array[]")] shapes: &Array,
    ) -> JsResult<Promise> {
        let (call, place) = (call(given, arrays, shapes)?, Rc::clone(&self.0));
        Ok(promise(async move {
            let taken = place.borrow_mut().take();
            let mut backend = taken.ok_or_else(|| Error::InvalidArgument {
                name: "backend",
                value: "one that runs an operation".into(),
                expected: "wait for it before the next",
            })?;
            let made = call.on_backend_async(&mut backend).await;
            place.replace(Some(backend));
            made.map(floats)
        }))
    }

    /// Frees the object and destroys the device that it opened. Unlike `free`, throws for an object of an earlier
    /// instance of the module.
    pub fn release(self) {
        if let Some(backend) = self.0.take() {
            backend.close();
        }
    }

    fn of(backend: GpuBackend) -> Self {
        Self(Rc::new(RefCell::new(Some(backend))))
    }
}
