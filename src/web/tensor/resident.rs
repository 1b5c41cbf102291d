//! Tensors on a device as a class of JavaScript.

use wasm_bindgen::prelude::*;

use super::call::Call;
use super::convert::{Given, call, reduction_from, shape_from, sizes_from, steps_from, words_of};
use crate::gpu::Buffer;
use crate::tensor::GpuTensor;

/// [`GpuTensor`] for JavaScript. Errors are those of its methods.
#[wasm_bindgen(js_name = Tensor)]
#[derive(Debug)]
pub struct WebTensor(pub(super) GpuTensor);

/// A call that makes a tensor of this one.
macro_rules! made {
    ($tensor:expr, $it:ident => $work:expr) => {{
        let $it = $tensor.0.clone();
        call(async move { $work.await.map(WebTensor) })
    }};
}

#[expect(
    clippy::missing_errors_doc,
    reason = "errors are those of the methods of the same names"
)]
#[wasm_bindgen(js_class = Tensor)]
impl WebTensor {
    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> Vec<u32> {
        words_of(self.0.shape().dims())
    }

    /// Distance of neighbours along each axis in the buffer, in elements.
    #[must_use]
    pub fn strides(&self) -> Vec<u32> {
        words_of(self.0.view().strides())
    }

    /// Place of the first element in the buffer.
    #[must_use]
    pub fn offset(&self) -> u32 {
        self.0.view().offset() as u32
    }

    /// The browser's `GPUBuffer`, which the tensor shares with its views.
    #[must_use]
    pub fn buffer(&self) -> JsValue {
        let Buffer::Wgpu(buffer) = self.0.buffer();
        let raw = buffer.raw().and_then(|raw| raw.as_webgpu());
        raw.map_or(JsValue::NULL, |raw| AsRef::<JsValue>::as_ref(&raw).clone())
    }

    /// The elements `start..end` of an axis.
    pub fn slice(&self, axis: u32, start: u32, end: u32) -> Given<WebTensor> {
        let range = start as usize..end as usize;
        Ok(Self(self.0.slice(axis as usize, range)?))
    }

    /// Two axes exchanged.
    pub fn transpose(&self, first: u32, second: u32) -> Given<WebTensor> {
        Ok(Self(self.0.transpose(first as usize, second as usize)?))
    }

    /// Axes in another order.
    pub fn permute(&self, axes: &[u32]) -> Given<WebTensor> {
        Ok(Self(self.0.permute(&sizes_from(axes))?))
    }

    /// The same elements in another shape.
    pub fn reshape(&self, dims: &[u32]) -> Given<WebTensor> {
        Ok(Self(self.0.reshape(shape_from(dims)?)?))
    }

    /// Extended to a larger shape.
    #[wasm_bindgen(js_name = broadcastTo)]
    pub fn broadcast_to(&self, dims: &[u32]) -> Given<WebTensor> {
        Ok(Self(self.0.broadcast_to(&shape_from(dims)?)?))
    }

    /// A `Float32Array` of the elements, the last axis innermost.
    #[must_use]
    pub fn read(&self) -> Call {
        let tensor = self.0.clone();
        call(async move { tensor.to_js_async().await })
    }

    /// The elements by all steps in turn.
    pub fn apply(&self, names: &str, numbers: &[f32]) -> Given<Call> {
        let steps = steps_from(names, numbers)?;
        Ok(made!(self, a => a.apply_async(&steps)))
    }

    /// The same with a second tensor for steps that take two.
    pub fn combine(&self, names: &str, numbers: &[f32], other: &WebTensor) -> Given<Call> {
        let (steps, b) = (steps_from(names, numbers)?, other.0.clone());
        Ok(made!(self, a => a.combine_async(&steps, &b)))
    }

    /// The same elements without gaps.
    #[must_use]
    pub fn contiguous(&self) -> Call {
        made!(self, a => a.contiguous_async())
    }

    /// Reduces some axes, which become ones.
    pub fn reduce(&self, reduction: &str, axes: &[u32]) -> Given<Call> {
        let (reduction, axes) = (reduction_from(reduction)?, sizes_from(axes));
        Ok(made!(self, a => a.reduce_async(reduction, &axes)))
    }

    /// Reduces all elements to a tensor without axes.
    #[wasm_bindgen(js_name = reduceAll)]
    pub fn reduce_all(&self, reduction: &str) -> Given<Call> {
        let reduction = reduction_from(reduction)?;
        Ok(made!(self, a => a.reduce_all_async(reduction)))
    }

    /// The sum of products.
    #[must_use]
    pub fn dot(&self, other: &WebTensor) -> Call {
        let b = other.0.clone();
        made!(self, a => a.dot_async(&b))
    }

    /// The softmax over the last axis, or its logarithm.
    #[must_use]
    pub fn softmax(&self, log: bool) -> Call {
        match log {
            true => made!(self, a => a.log_softmax_async()),
            false => made!(self, a => a.softmax_async()),
        }
    }

    /// The matrix product.
    #[must_use]
    pub fn matmul(&self, other: &WebTensor) -> Call {
        let b = other.0.clone();
        made!(self, a => a.matmul_async(&b))
    }

    /// The convolution with a kernel where it fits.
    #[must_use]
    pub fn convolve2d(&self, kernel: &WebTensor) -> Call {
        let b = kernel.0.clone();
        made!(self, a => a.convolve2d_async(&b))
    }
}
