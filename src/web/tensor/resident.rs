//! Tensors on a device as a class of JavaScript.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, floats, promise, shape, sizes};
use super::op::op;
use crate::Result;
use crate::gpu::Buffer;
use crate::tensor::GpuTensor;

/// A tensor on a device: [`GpuTensor`] for JavaScript.
#[wasm_bindgen(js_name = Tensor)]
#[derive(Debug)]
pub struct WebTensor(pub(super) GpuTensor);

/// A promise of a tensor.
pub(super) fn making(work: impl Future<Output = Result<GpuTensor>> + 'static) -> Promise {
    promise(async move { work.await.map(WebTensor) })
}

fn words(sizes: &[usize]) -> Vec<u32> {
    sizes.iter().map(|&size| size as u32).collect()
}

#[wasm_bindgen(js_class = Tensor)]
impl WebTensor {
    /// Lengths of the axes.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<u32> {
        words(self.0.shape().dims())
    }

    /// Distance of neighbours along each axis in the buffer, in elements.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn strides(&self) -> Vec<u32> {
        words(self.0.view().strides())
    }

    /// Place of the first element in the buffer, in elements.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn offset(&self) -> usize {
        self.0.view().offset()
    }

    /// The browser's `GPUBuffer`, which the tensor shares with its views.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn buffer(&self) -> JsValue {
        let Buffer::Wgpu(buffer) = self.0.buffer();
        let raw = buffer.raw().and_then(|raw| raw.as_webgpu());
        raw.map_or(JsValue::NULL, |raw| AsRef::<JsValue>::as_ref(&raw).clone())
    }

    /// The elements from `start` to before `end` of an axis.
    pub fn slice(&self, axis: usize, start: usize, end: usize) -> JsResult<Self> {
        Ok(Self(self.0.slice(axis, start..end)?))
    }

    /// Two axes exchanged.
    pub fn transpose(&self, first: usize, second: usize) -> JsResult<Self> {
        Ok(Self(self.0.transpose(first, second)?))
    }

    /// Axes in another order.
    pub fn permute(&self, axes: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.permute(&sizes(axes)?)?))
    }

    /// The same elements in another shape.
    pub fn reshape(&self, dims: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.reshape(shape(dims)?)?))
    }

    /// Extended to a larger shape.
    #[wasm_bindgen(js_name = broadcastTo)]
    pub fn broadcast_to(&self, dims: &[u32]) -> JsResult<Self> {
        Ok(Self(self.0.broadcast_to(&shape(dims)?)?))
    }

    /// The elements in a new array, the last axis innermost.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn read(&self) -> Promise {
        let tensor = self.0.clone();
        promise(async move { tensor.to_js_async().await.map(floats) })
    }

    /// The same elements without gaps.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn contiguous(&self) -> Promise {
        let a = self.0.clone();
        making(async move { a.contiguous_async().await })
    }

    /// Runs an operation on this and as many others of `second` and `third` as make `n` tensors; any tensor stands for one
    /// that is not there, since lists of objects cannot be borrowed.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn run(
        &self,
        #[wasm_bindgen(js_name = op, unchecked_param_type = "Op")] given: &Array,
        n: usize,
        second: &WebTensor,
        third: &WebTensor,
    ) -> JsResult<Promise> {
        let op = op(given)?;
        let tensors = [&self.0, &second.0, &third.0].map(GpuTensor::clone);
        Ok(making(async move {
            let tensors = tensors.each_ref();
            GpuTensor::run_async(&op, &tensors[..n.clamp(1, 3)]).await
        }))
    }

    /// Frees it, as `free` does, and refuses one of an earlier instance of the module, which `free` does not.
    pub fn release(self) {}
}
