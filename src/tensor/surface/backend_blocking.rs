//! Blocking operations of [`GpuBackend`].

use crate::Result;
use crate::gpu::runtime::block_on;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::{GpuBackend, Reduction, Shape, Step};

/// Blocking forms, native only. They return the errors of the forms named `_async`.
impl GpuBackend {
    /// [`elementwise_async`](Self::elementwise_async), blocking.
    pub fn elementwise(
        &mut self,
        steps: &[Step],
        a: &[f32],
        b: Option<&[f32]>,
    ) -> Result<Vec<f32>> {
        block_on(self.elementwise_async(steps, a, b))
    }

    /// [`relu_async`](Self::relu_async), blocking.
    pub fn relu(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.relu_async(a))
    }

    /// [`leaky_relu_async`](Self::leaky_relu_async), blocking.
    pub fn leaky_relu(&mut self, a: &[f32], alpha: f32) -> Result<Vec<f32>> {
        block_on(self.leaky_relu_async(a, alpha))
    }

    /// [`elu_async`](Self::elu_async), blocking.
    pub fn elu(&mut self, a: &[f32], alpha: f32) -> Result<Vec<f32>> {
        block_on(self.elu_async(a, alpha))
    }

    /// [`sigmoid_async`](Self::sigmoid_async), blocking.
    pub fn sigmoid(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.sigmoid_async(a))
    }

    /// [`tanh_async`](Self::tanh_async), blocking.
    pub fn tanh(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.tanh_async(a))
    }

    /// [`swish_async`](Self::swish_async), blocking.
    pub fn swish(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.swish_async(a))
    }

    /// [`gelu_async`](Self::gelu_async), blocking.
    pub fn gelu(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.gelu_async(a))
    }

    /// [`clip_async`](Self::clip_async), blocking.
    pub fn clip(&mut self, a: &[f32], min: f32, max: f32) -> Result<Vec<f32>> {
        block_on(self.clip_async(a, min, max))
    }

    /// [`vec_add_async`](Self::vec_add_async), blocking.
    pub fn vec_add(&mut self, a: &[f32], b: &[f32]) -> Result<Vec<f32>> {
        block_on(self.vec_add_async(a, b))
    }

    /// [`dot_async`](Self::dot_async), blocking.
    pub fn dot(&mut self, a: &[f32], b: &[f32]) -> Result<f32> {
        block_on(self.dot_async(a, b))
    }

    /// [`softmax_async`](Self::softmax_async), blocking.
    pub fn softmax(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.softmax_async(a))
    }

    /// [`log_softmax_async`](Self::log_softmax_async), blocking.
    pub fn log_softmax(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        block_on(self.log_softmax_async(a))
    }

    /// [`softmax_rows_async`](Self::softmax_rows_async), blocking.
    pub fn softmax_rows(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        block_on(self.softmax_rows_async(a, cols))
    }

    /// [`log_softmax_rows_async`](Self::log_softmax_rows_async), blocking.
    pub fn log_softmax_rows(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        block_on(self.log_softmax_rows_async(a, cols))
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    pub fn matmul(
        &mut self,
        a: &[f32],
        b: &[f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<Vec<f32>> {
        block_on(self.matmul_async(a, b, m, k, n))
    }

    /// [`convolve2d_async`](Self::convolve2d_async), blocking.
    pub fn convolve2d(
        &mut self,
        input: &[f32],
        kernel: &[f32],
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> Result<Vec<f32>> {
        block_on(self.convolve2d_async(input, kernel, size, kernel_size))
    }

    /// [`reduce_async`](Self::reduce_async), blocking.
    pub fn reduce(&mut self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        block_on(self.reduce_async(reduction, a))
    }

    /// [`reduce_axes_async`](Self::reduce_axes_async), blocking.
    pub fn reduce_axes(
        &mut self,
        reduction: Reduction,
        a: &[f32],
        shape: &Shape,
        axes: &[usize],
    ) -> Result<Vec<f32>> {
        block_on(self.reduce_axes_async(reduction, a, shape, axes))
    }

    /// [`norm_async`](Self::norm_async), blocking.
    pub fn norm(
        &mut self,
        norm: Norm,
        a: &[f32],
        columns: [Option<&[f32]>; 2],
        cols: usize,
    ) -> Result<Vec<f32>> {
        block_on(self.norm_async(norm, a, columns, cols))
    }

    /// [`rotary_async`](Self::rotary_async), blocking.
    pub fn rotary(
        &mut self,
        a: &[f32],
        turns: &[f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<Vec<f32>> {
        block_on(self.rotary_async(a, turns, heads, first))
    }

    /// [`attention_async`](Self::attention_async), blocking.
    pub fn attention(
        &mut self,
        what: Attention,
        queries: (&[f32], &Shape),
        keys: (&[f32], &[f32], &Shape),
    ) -> Result<Vec<f32>> {
        block_on(self.attention_async(what, queries, keys))
    }
}
