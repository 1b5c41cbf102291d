//! Buffers that belong to the page, for kernels to work on.
//!
//! wgpu has no way in for a `GPUBuffer` of the browser. But it makes its own by calling `createBuffer` of the browser's
//! device, so for one call that name is given to a function which answers with the page's buffer.

use js_sys::{Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::device::WgpuDevice;
use super::memory::WgpuBuffer;
use crate::{Error, Result};

const CREATE: &str = "createBuffer";

impl WgpuDevice {
    /// The page's `GPUBuffer`, which is on this device and has the usage `STORAGE`; nothing is copied, and it stays the
    /// page's. A buffer of another device is found when work on it is waited for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for anything else than such a buffer.
    pub fn lend_buffer(&self, buffer: &JsValue) -> Result<WgpuBuffer> {
        let number = |key: &str| {
            let value = Reflect::get(buffer, &JsValue::from_str(key));
            value.ok().and_then(|value| value.as_f64())
        };
        let (Some(size), Some(usage)) = (number("size"), number("usage")) else {
            return Err(invalid("a value that is no GPUBuffer".into()));
        };
        let usage = wgpu::BufferUsages::from_bits_truncate(usage as u32);
        if !usage.contains(wgpu::BufferUsages::STORAGE) || size < 4.0 {
            let bits = usage.bits();
            return Err(invalid(format!("one of {size} bytes with usage {bits}")));
        }
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: size as u64,
            usage,
            mapped_at_creation: false,
        };
        let device = self.raw_device();
        let made = answering(device, buffer, || device.create_buffer(&descriptor));
        Ok(self.lent(made.ok_or_else(|| invalid("a device that cannot be lent to".into()))?))
    }
}

/// Runs `create` while `createBuffer` of the browser's device answers with `buffer`.
fn answering<T>(device: &wgpu::Device, buffer: &JsValue, create: impl FnOnce() -> T) -> Option<T> {
    let raw = device.as_webgpu()?;
    let raw: &JsValue = raw.as_ref();
    // `valueOf` of an object answers with the object, whatever it is asked.
    let value_of = Reflect::get(buffer, &JsValue::from_str("valueOf")).ok()?;
    let answer = value_of.dyn_into::<Function>().ok()?.bind0(buffer);
    Reflect::set(raw, &JsValue::from_str(CREATE), &answer).ok()?;
    let made = create();
    // The device's own function is its prototype's, and is seen again.
    Reflect::delete_property(raw.unchecked_ref::<Object>(), &JsValue::from_str(CREATE)).ok()?;
    Some(made)
}

fn invalid(value: String) -> Error {
    Error::InvalidArgument {
        name: "buffer",
        value,
        expected: "give a GPUBuffer with usage STORAGE, made by the compressor's device",
    }
}
