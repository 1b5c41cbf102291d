//! The device as a class of JavaScript.

use js_sys::{Float32Array, Object};
use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{
    Given, call, capabilities_to_js, info_to_js, power_preference_from, shape_from,
};
use super::resident::WebTensor;
use crate::gpu::{Backend, DeviceRequest, EngineChoice, GpuDevice};
use crate::kernels::tensor::padded_bytes;
use crate::tensor::{GpuTensor, TensorView};

/// [`GpuDevice`] for JavaScript.
#[wasm_bindgen(js_name = Device)]
#[derive(Debug)]
pub struct WebDevice(pub(super) GpuDevice);

#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// Opens a GPU.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown name; the call's are those of [`GpuDevice::open_async`].
    pub fn open(power_preference: &str, allow_software: bool) -> Given<Call> {
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            power_preference: power_preference_from(power_preference)?,
            allow_software,
            ..DeviceRequest::default()
        };
        Ok(call(async move {
            GpuDevice::open_async(&request).await.map(Self)
        }))
    }

    /// `{ name, vendor, engine, software }`.
    #[must_use]
    pub fn info(&self) -> Object {
        info_to_js(self.0.info())
    }

    /// What kernels may use.
    #[must_use]
    pub fn capabilities(&self) -> Object {
        capabilities_to_js(self.0.capabilities())
    }

    /// The browser's `GPUDevice`.
    #[must_use]
    pub fn raw(&self) -> JsValue {
        let device = self
            .0
            .as_wgpu()
            .and_then(|wgpu| wgpu.raw_device().as_webgpu());
        device.map_or(JsValue::NULL, |device| {
            AsRef::<JsValue>::as_ref(&device).clone()
        })
    }

    /// Gives the device up: all of its tensors are lost.
    pub fn destroy(&self) {
        self.0.destroy();
    }

    /// Waits until everything submitted has run.
    #[must_use]
    pub fn synchronize(&self) -> Call {
        let device = self.0.clone();
        call(async move { device.synchronize_async().await.map(|()| JsValue::NULL) })
    }

    /// A tensor of the elements of an array, which are read at the first poll.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a shape that is too large; the call's are `LENGTH_MISMATCH` and those of devices.
    pub fn upload(&self, values: Float32Array, dims: &[u32]) -> Given<Call> {
        let (device, shape) = (self.0.clone(), shape_from(dims)?);
        Ok(call(async move {
            let tensor = GpuTensor::from_js_async(&device, &values, shape).await;
            tensor.map(WebTensor)
        }))
    }

    /// A tensor whose elements are whatever is in the memory.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `OUT_OF_MEMORY`, `DEVICE_LOST`.
    pub fn empty(&self, dims: &[u32]) -> Given<WebTensor> {
        let shape = shape_from(dims)?;
        let buffer = self
            .0
            .allocate_memory(padded_bytes(shape.n_elements() as u64))?;
        let tensor = GpuTensor::from_buffer(&self.0, buffer, TensorView::new(shape))?;
        Ok(WebTensor(tensor))
    }
}
