//! [`GpuDevice`] as a JavaScript class.

use js_sys::{Array, Float32Array, Object, Promise};
use wasm_bindgen::prelude::*;

use super::batch::WebBatch;
use super::convert::{JsResult, bytes, floats, object, promise, shape, wrong};
use super::names::{WebDType, WebPowerPreference};
use super::op::call;
use super::resident::{WebTensor, making};
use crate::Result;
use crate::gpu::{Backend, DeviceRequest, GpuDevice, PowerPreference};
use crate::kernels::tensor::padded_bytes;
use crate::tensor::{GpuCommandBatch, GpuTensor, Shape, TensorView};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Description of a device. */
export interface DeviceInfo {
  readonly name: string;
  readonly vendor: string;
  readonly engine: "webgpu";
  readonly software: boolean;
}

/** Limits and features for kernels. */
export interface Capabilities {
  readonly maxBindingBytes: number;
  readonly maxBufferBytes: number;
  readonly maxWorkgroupBytes: number;
  readonly maxWorkgroupInvocations: number;
  readonly maxGrid: number;
  readonly maxStorageBuffers: number;
  readonly timestamps: boolean;
  readonly float16: boolean;
}
"#;

/// An open GPU: [`GpuDevice`] for JavaScript.
#[wasm_bindgen(js_name = Device)]
#[derive(Debug)]
pub struct WebDevice {
    pub(super) device: GpuDevice,
    /// True for a device of the page, which is not destroyed.
    is_borrowed: bool,
}

#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// Opens a GPU.
    #[wasm_bindgen(unchecked_return_type = "Promise<Device>")]
    pub fn open(
        #[wasm_bindgen(js_name = powerPreference)] power_preference: WebPowerPreference,
        #[wasm_bindgen(js_name = allowSoftware)] allow_software: bool,
    ) -> JsResult<Promise> {
        let power_preference = match power_preference {
            WebPowerPreference::HighPerformance => PowerPreference::HighPerformance,
            WebPowerPreference::LowPower => PowerPreference::LowPower,
            _ => {
                let expected = "give high-performance or low-power";
                return Err(wrong("powerPreference", &"another name".into(), expected).into());
            }
        };
        let request = DeviceRequest {
            power_preference,
            allow_software,
            ..DeviceRequest::default()
        };
        Ok(promise(async move {
            let device = GpuDevice::open_async(&request).await?;
            Ok(Self {
                device,
                is_borrowed: false,
            })
        }))
    }

    /// Uses a `GPUDevice` of the page, which is not destroyed.
    #[wasm_bindgen(unchecked_return_type = "Promise<Device>")]
    pub fn borrow(device: JsValue) -> Promise {
        promise(async move {
            let device = GpuDevice::from_js_async(&device).await?;
            Ok(Self {
                device,
                is_borrowed: true,
            })
        })
    }

    /// Returns the description of the device.
    #[must_use]
    #[wasm_bindgen(getter, unchecked_return_type = "DeviceInfo")]
    pub fn info(&self) -> Object {
        let info = self.device.info();
        object(&[
            ("name", info.name.as_str().into()),
            ("vendor", info.vendor.as_str().into()),
            ("engine", info.api.into()),
            ("software", info.is_software().into()),
        ])
    }

    /// Returns limits and features for kernels.
    #[must_use]
    #[wasm_bindgen(getter, unchecked_return_type = "Capabilities")]
    pub fn capabilities(&self) -> Object {
        let most = self.device.capabilities();
        object(&[
            ("maxBindingBytes", (most.max_binding_bytes as f64).into()),
            ("maxBufferBytes", (most.max_buffer_bytes as f64).into()),
            ("maxWorkgroupBytes", most.max_workgroup_bytes.into()),
            (
                "maxWorkgroupInvocations",
                most.max_workgroup_invocations.into(),
            ),
            ("maxGrid", most.max_grid.into()),
            ("maxStorageBuffers", most.max_storage_buffers.into()),
            ("timestamps", most.timestamps.into()),
            ("float16", most.float16.into()),
        ])
    }

    /// Returns the browser's `GPUDevice`.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn raw(&self) -> JsValue {
        self.device.raw_web()
    }

    /// Waits until all submitted work has completed.
    #[wasm_bindgen(unchecked_return_type = "Promise<void>")]
    pub fn synchronize(&self) -> Promise {
        let device = self.device.clone();
        promise(async move {
            device
                .synchronize_async()
                .await
                .map(|()| JsValue::UNDEFINED)
        })
    }

    /// Runs an operation on arrays with these shapes; returns a new array.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn run(
        &self,
        #[wasm_bindgen(js_name = op, unchecked_param_type = "Op")] given: &Array,
        #[wasm_bindgen(unchecked_param_type = "readonly Float32Array[]")] arrays: &Array,
        #[wasm_bindgen(unchecked_param_type = "readonly Uint32Array[]")] shapes: &Array,
    ) -> JsResult<Promise> {
        let (call, device) = (call(given, arrays, shapes)?, self.device.clone());
        Ok(promise(async move {
            call.on_device_async(&device).await.map(floats)
        }))
    }

    /// Uploads an array as a tensor.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn upload(&self, values: &Float32Array, dims: &[u32]) -> JsResult<Promise> {
        let (device, values, shape) = (self.device.clone(), bytes(values)?, shape(dims)?);
        Ok(making(async move {
            GpuTensor::from_js_async(&device, &values, shape).await
        }))
    }

    /// Uploads the bits of elements of 16 bits as a tensor.
    #[wasm_bindgen(js_name = uploadBits, unchecked_return_type = "Promise<Tensor>")]
    pub fn upload_bits(&self, bits: Vec<u16>, dtype: WebDType, dims: &[u32]) -> JsResult<Promise> {
        let (device, dtype, shape) = (self.device.clone(), dtype.named()?, shape(dims)?);
        Ok(making(async move {
            GpuTensor::from_bits_async(&device, &bits, dtype, shape).await
        }))
    }

    /// Creates a tensor with uninitialised elements.
    pub fn empty(&self, dims: &[u32]) -> JsResult<WebTensor> {
        Ok(WebTensor(self.uncleared(shape(dims)?)?))
    }

    /// Creates a tensor from the start of a `GPUBuffer` of this device. The page still owns the buffer.
    #[wasm_bindgen(js_name = tensorFromBuffer)]
    pub fn tensor_from_buffer(&self, buffer: &JsValue, dims: &[u32]) -> JsResult<WebTensor> {
        let (buffer, shape) = (self.device.buffer_from_js(buffer)?, shape(dims)?);
        let tensor = GpuTensor::from_buffer(&self.device, buffer, TensorView::new(shape))?;
        Ok(WebTensor(tensor))
    }

    /// Creates a batch without operations.
    #[must_use]
    pub fn batch(&self) -> WebBatch {
        WebBatch::new(GpuCommandBatch::new(self.device.clone()))
    }

    /// Frees the object and destroys the device, and with it all of its tensors, unless it is the page's. Unlike
    /// `free`, throws for an object of an earlier instance of the module.
    pub fn release(self) {
        if !self.is_borrowed {
            self.device.destroy();
        }
    }
}

impl WebDevice {
    fn uncleared(&self, shape: Shape) -> Result<GpuTensor> {
        let n_bytes = padded_bytes(shape.n_elements() as u64);
        let buffer = self.device.allocate_uncleared(n_bytes)?;
        GpuTensor::from_buffer(&self.device, buffer, TensorView::new(shape))
    }
}
