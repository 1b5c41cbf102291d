//! Tensors from and to arrays of JavaScript, without a copy through the module's memory.

use js_sys::{Array, Float32Array, Function, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::check_len;
use super::resident::GpuTensor;
use super::run::{Download, Recording};
use super::shape::Shape;
use crate::gpu::{Backend, GpuDevice, HostBuffer, HostUse, Place, Recorder, Sized64};
use crate::{Error, Result};

impl GpuTensor {
    /// A tensor of the elements of an array, which are read before this waits for anything.
    pub(crate) async fn from_js_async(
        device: &GpuDevice,
        values: &Float32Array,
        shape: Shape,
    ) -> Result<Self> {
        let n = shape.n_elements();
        check_len("data", values.length() as usize, n as u64)?;
        let mut recording = Recording::new(device);
        let buffer = recording.allocate(n)?;
        if n > 0 {
            let n_bytes = 4 * n as u64;
            let host = device.allocate_host(n_bytes, HostUse::Upload)?;
            let HostBuffer::Wgpu(mapped) = &host;
            mapped
                .write_js_async(0, n_bytes, || bytes_of(values, n))
                .await?;
            let (to, from) = (Place::Device(&buffer, 0), Place::Host(&host, 0));
            recording.stream.copy(to, from, n_bytes)?;
        }
        recording.submit_untimed()?;
        Ok(Self::new(device, buffer, shape))
    }

    /// Copies the elements to a new array, the last axis innermost.
    pub(crate) async fn to_js_async(&self) -> Result<Float32Array> {
        self.download().await?.read_js().await
    }
}

impl Download {
    async fn read_js(self) -> Result<Float32Array> {
        let Some(host) = self.0 else {
            return new_array(0);
        };
        let HostBuffer::Wgpu(mapped) = &host;
        let n_bytes = host.n_bytes();
        let out = new_array((n_bytes / 4) as usize)?;
        let bytes = Uint8Array::new(&out.buffer());
        mapped
            .read_js_async(0..n_bytes, |view| bytes.set(view, 0))
            .await?;
        Ok(out)
    }
}

/// The bytes of an array, which may have shrunk or gone away since it was looked at.
fn bytes_of(values: &Float32Array, n: usize) -> Result<Uint8Array> {
    check_len("data", values.length() as usize, n as u64)?;
    let (buffer, start) = (values.buffer(), values.byte_offset());
    Ok(Uint8Array::new_with_byte_offset_and_length(
        &buffer,
        start,
        4 * n as u32,
    ))
}

/// An array of zeros, or an error where JavaScript would throw.
fn new_array(n: usize) -> Result<Float32Array> {
    let make = |constructor: JsValue| {
        let arguments = Array::of1(&JsValue::from_f64(n as f64));
        Reflect::construct(constructor.unchecked_ref::<Function>(), &arguments)
    };
    let made = Reflect::get(&js_sys::global(), &JsValue::from_str("Float32Array"));
    made.and_then(make)
        .map(JsCast::unchecked_into)
        .map_err(|_| Error::OutOfMemory {
            requested: 4 * n as u64,
        })
}
