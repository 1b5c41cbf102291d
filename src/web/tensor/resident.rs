//! [`GpuTensor`] as a JavaScript class.

use js_sys::{Array, Promise, Uint16Array};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, floats, promise, shape, sizes};
use super::names::WebDType;
use super::op::op;
use crate::Result;
use crate::gpu::Buffer;
use crate::tensor::GpuTensor;

/// A tensor on a device: [`GpuTensor`] for JavaScript.
#[wasm_bindgen(js_name = Tensor)]
#[derive(Debug)]
pub struct WebTensor(pub(super) GpuTensor);

/// Returns a promise of a tensor.
pub(super) fn making(work: impl Future<Output = Result<GpuTensor>> + 'static) -> Promise {
    promise(async move { work.await.map(WebTensor) })
}

fn words(sizes: &[usize]) -> Vec<u32> {
    sizes.iter().map(|&size| size as u32).collect()
}

#[wasm_bindgen(js_class = Tensor)]
impl WebTensor {
    /// Returns the lengths of the axes.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<u32> {
        words(self.0.shape().dims())
    }

    /// Returns the type of the elements.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn dtype(&self) -> WebDType {
        self.0.dtype().into()
    }

    /// Returns the distance of neighbours along each axis in the buffer, in elements.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn strides(&self) -> Vec<u32> {
        words(self.0.view().strides())
    }

    /// Returns the position of the first element in the buffer, in elements.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn offset(&self) -> usize {
        self.0.view().offset()
    }

    /// Returns the browser's `GPUBuffer`, which the tensor shares with its views.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn buffer(&self) -> JsValue {
        let Buffer::Wgpu(buffer) = self.0.buffer();
        let raw = buffer.raw().and_then(|raw| raw.as_webgpu());
        raw.map_or(JsValue::NULL, |raw| AsRef::<JsValue>::as_ref(&raw).clone())
    }

    /// Returns the elements from `start` to `end` (exclusive) of an axis.
    pub fn slice(&self, axis: usize, start: usize, end: usize) -> JsResult<Self> {
        Ok(Self(self.0.slice(axis, start..end)?))
    }

    /// Exchanges two axes.
    pub fn transpose(&self, first: usize, second: usize) -> JsResult<Self> {
        Ok(Self(self.0.transpose(first, second)?))
    }

    /// Reorders the axes.
    pub fn permute(&self, axes: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.permute(&sizes(axes)?)?))
    }

    /// Returns the same elements in another shape, without a copy.
    pub fn reshape(&self, dims: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.reshape(shape(dims)?)?))
    }

    /// Broadcasts to a larger shape.
    #[wasm_bindgen(js_name = broadcastTo)]
    pub fn broadcast_to(&self, dims: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.broadcast_to(&shape(dims)?)?))
    }

    /// Returns the elements in a new array, row-major.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn read(&self) -> Promise {
        let tensor = self.0.clone();
        promise(async move { tensor.to_js_async().await.map(floats) })
    }

    /// Returns the bits of elements of 16 bits in a new array, row-major.
    #[wasm_bindgen(js_name = readBits, unchecked_return_type = "Promise<Uint16Array<ArrayBuffer>>")]
    pub fn read_bits(&self) -> Promise {
        let tensor = self.0.clone();
        promise(async move {
            let bits = tensor.to_bits_async().await?;
            Ok(Uint16Array::from(&bits[..]))
        })
    }

    /// Converts the elements to a type.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn cast(&self, dtype: WebDType) -> JsResult<Promise> {
        let (tensor, dtype) = (self.0.clone(), dtype.named()?);
        Ok(making(async move { tensor.cast_async(dtype).await }))
    }

    /// Returns the same elements contiguously, row-major.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn contiguous(&self) -> Promise {
        let a = self.0.clone();
        making(async move { a.contiguous_async().await })
    }

    /// Runs an operation on the first `n` of this tensor, `second` and `third`. Unused ones may be any tensor: the
    /// parameters are not a list, because wasm-bindgen cannot borrow lists of objects.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn run(
        &self,
        #[wasm_bindgen(js_name = op, unchecked_param_type = "Op")] given: &Array,
        n: usize,
        second: &WebTensor,
        third: &WebTensor,
        fourth: &WebTensor,
    ) -> JsResult<Promise> {
        let op = op(given)?;
        let tensors = [&self.0, &second.0, &third.0, &fourth.0].map(GpuTensor::clone);
        Ok(making(async move {
            let tensors = tensors.each_ref();
            GpuTensor::run_async(&op, &tensors[..n.clamp(1, 4)]).await
        }))
    }

    /// Frees the object. Unlike `free`, throws for an object of an earlier instance of the module.
    pub fn release(self) {}
}
