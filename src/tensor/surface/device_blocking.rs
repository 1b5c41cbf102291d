//! Blocking operations of [`GpuDevice`] on slices.

use crate::Result;
use crate::gpu::GpuDevice;
use crate::gpu::runtime::block_on;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::{Shape, Step};

/// Blocking forms, native only. They return the errors of the forms named `_async`.
impl GpuDevice {
    /// [`elementwise_async`](Self::elementwise_async), blocking.
    pub fn elementwise(
        &self,
        steps: &[Step],
        input: &[f32],
        other: Option<&[f32]>,
        result: &mut [f32],
    ) -> Result<()> {
        block_on(self.elementwise_async(steps, input, other, result))
    }

    /// [`relu_async`](Self::relu_async), blocking.
    pub fn relu(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.relu_async(input, result))
    }

    /// [`leaky_relu_async`](Self::leaky_relu_async), blocking.
    pub fn leaky_relu(&self, input: &[f32], result: &mut [f32], alpha: f32) -> Result<()> {
        block_on(self.leaky_relu_async(input, result, alpha))
    }

    /// [`elu_async`](Self::elu_async), blocking.
    pub fn elu(&self, input: &[f32], result: &mut [f32], alpha: f32) -> Result<()> {
        block_on(self.elu_async(input, result, alpha))
    }

    /// [`sigmoid_async`](Self::sigmoid_async), blocking.
    pub fn sigmoid(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.sigmoid_async(input, result))
    }

    /// [`tanh_async`](Self::tanh_async), blocking.
    pub fn tanh(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.tanh_async(input, result))
    }

    /// [`swish_async`](Self::swish_async), blocking.
    pub fn swish(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.swish_async(input, result))
    }

    /// [`gelu_async`](Self::gelu_async), blocking.
    pub fn gelu(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.gelu_async(input, result))
    }

    /// [`clip_async`](Self::clip_async), blocking.
    pub fn clip(&self, input: &[f32], result: &mut [f32], min: f32, max: f32) -> Result<()> {
        block_on(self.clip_async(input, result, min, max))
    }

    /// [`vec_add_async`](Self::vec_add_async), blocking.
    pub fn vec_add(&self, a: &[f32], b: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.vec_add_async(a, b, result))
    }

    /// [`dot_async`](Self::dot_async), blocking.
    pub fn dot(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        block_on(self.dot_async(a, b))
    }

    /// [`softmax_async`](Self::softmax_async), blocking.
    pub fn softmax(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.softmax_async(input, result))
    }

    /// [`log_softmax_async`](Self::log_softmax_async), blocking.
    pub fn log_softmax(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        block_on(self.log_softmax_async(input, result))
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    pub fn matmul(
        &self,
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<()> {
        block_on(self.matmul_async(a, b, c, m, k, n))
    }

    /// [`convolve2d_async`](Self::convolve2d_async), blocking.
    #[expect(clippy::too_many_arguments, reason = "the documents' signature")]
    pub fn convolve2d(
        &self,
        input: &[f32],
        kernel: &[f32],
        output: &mut [f32],
        input_rows: usize,
        input_cols: usize,
        kernel_rows: usize,
        kernel_cols: usize,
    ) -> Result<()> {
        block_on(self.convolve2d_async(
            input,
            kernel,
            output,
            input_rows,
            input_cols,
            kernel_rows,
            kernel_cols,
        ))
    }

    /// [`norm_async`](Self::norm_async), blocking.
    pub fn norm(
        &self,
        norm: Norm,
        input: &[f32],
        columns: [Option<&[f32]>; 2],
        result: &mut [f32],
        cols: usize,
    ) -> Result<()> {
        block_on(self.norm_async(norm, input, columns, result, cols))
    }

    /// [`rotary_async`](Self::rotary_async), blocking.
    pub fn rotary(
        &self,
        input: &[f32],
        turns: &[f32],
        result: &mut [f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<()> {
        block_on(self.rotary_async(input, turns, result, heads, first))
    }

    /// [`attention_async`](Self::attention_async), blocking.
    pub fn attention(
        &self,
        what: Attention,
        queries: (&[f32], &Shape),
        keys: (&[f32], &[f32], &Shape),
        result: &mut [f32],
    ) -> Result<()> {
        block_on(self.attention_async(what, queries, keys, result))
    }

    /// [`tiled_sum_2d_async`](Self::tiled_sum_2d_async), blocking.
    pub fn tiled_sum_2d(&self, data: &[f32], width: usize, height: usize) -> Result<f32> {
        block_on(self.tiled_sum_2d_async(data, width, height))
    }

    /// [`tiled_max_2d_async`](Self::tiled_max_2d_async), blocking.
    pub fn tiled_max_2d(&self, data: &[f32], width: usize, height: usize) -> Result<f32> {
        block_on(self.tiled_max_2d_async(data, width, height))
    }

    /// [`tiled_min_2d_async`](Self::tiled_min_2d_async), blocking.
    pub fn tiled_min_2d(&self, data: &[f32], width: usize, height: usize) -> Result<f32> {
        block_on(self.tiled_min_2d_async(data, width, height))
    }
}
