//! Operations of [`GpuDevice`] on slices: in to the device, out again, in one submission.

use super::arrays::Array;
use crate::Result;
use crate::gpu::GpuDevice;
use crate::tensor::cpu::{MaxOp, MinOp, ReduceOp, SumOp};
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::{Reduction, Shape, Step};

impl GpuDevice {
    /// Applies all steps in turn to each element of `input`; steps that take two take the element of `other`, which is as
    /// long.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if a step takes
    /// two and there is no `other`; [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn elementwise_async(
        &self,
        steps: &[Step],
        input: &[f32],
        other: Option<&[f32]>,
        result: &mut [f32],
    ) -> Result<()> {
        let op = Op::Elementwise(steps.to_vec());
        match other {
            Some(other) => {
                self.run_async(&op, &Array::pair(input, other), result)
                    .await
            }
            None => self.run_async(&op, &[Array::vector(input)], result).await,
        }
    }

    /// Returns the sum of products; 0 of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn dot_async(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        let mut result = [0.0];
        self.run_async(&Op::Dot, &Array::pair(a, b), &mut result)
            .await?;
        Ok(result[0])
    }

    /// Computes eˣ over the sum of all eˣ: one row.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn softmax_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        let op = Op::Softmax { log: false };
        self.run_async(&op, &[Array::vector(input)], result).await
    }

    /// Computes the logarithm of [`softmax_async`](Self::softmax_async).
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn log_softmax_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        let op = Op::Softmax { log: true };
        self.run_async(&op, &[Array::vector(input)], result).await
    }

    /// Computes `c = a b`, with `a` of `m` rows and `k` columns, `b` of `k` rows and `n` columns, rows one after the other.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn matmul_async(
        &self,
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<()> {
        let a = Array::of_dims("a", a, &[m, k])?;
        let b = Array::of_dims("b", b, &[k, n])?;
        self.run_async(&Op::Matmul, &[a, b], c).await
    }

    /// Convolves a picture with a kernel where it fits: no padding, and the kernel is not flipped. `output` has
    /// `input_rows - kernel_rows + 1` rows and as many columns less.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) for a kernel
    /// that is empty or larger than the picture.
    #[expect(clippy::too_many_arguments, reason = "the documents' signature")]
    pub async fn convolve2d_async(
        &self,
        input: &[f32],
        kernel: &[f32],
        output: &mut [f32],
        input_rows: usize,
        input_cols: usize,
        kernel_rows: usize,
        kernel_cols: usize,
    ) -> Result<()> {
        let input = Array::of_dims("input", input, &[input_rows, input_cols])?;
        let kernel = Array::of_dims("kernel", kernel, &[kernel_rows, kernel_cols])?;
        self.run_async(&Op::Convolve2d, &[input, kernel], output)
            .await
    }

    /// Normalises each row of `cols` elements, then multiplies it by a weight and adds a bias, the first and the second of
    /// `columns`, which have an element for each column.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) for rows that
    /// are not whole.
    pub async fn norm_async(
        &self,
        norm: Norm,
        input: &[f32],
        columns: [Option<&[f32]>; 2],
        result: &mut [f32],
        cols: usize,
    ) -> Result<()> {
        let (op, inputs) = Array::rows_and_columns(norm, input, columns, cols)?;
        self.run_async(&op, &inputs, result).await
    }

    /// Computes the attention of queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`, to keys and
    /// values of one shape, as [`cpu::attention`](crate::tensor::cpu::attention) does. `result` is as the queries.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`ShapeMismatch`](crate::Error::ShapeMismatch).
    pub async fn attention_async(
        &self,
        what: Attention,
        (queries, q_shape): (&[f32], &Shape),
        (keys, values, k_shape): (&[f32], &[f32], &Shape),
        result: &mut [f32],
    ) -> Result<()> {
        let inputs = [(queries, q_shape), (keys, k_shape), (values, k_shape)];
        let inputs = inputs.map(|(values, shape)| Array::new(values, shape.clone()));
        self.run_async(&Op::Attention(what), &inputs, result).await
    }

    /// Returns the sum of `width` times `height` elements.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_sum_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<SumOp>(data, width, height)
            .await
    }

    /// Returns the largest of `width` times `height` elements; NaN if one is, -∞ of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_max_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<MaxOp>(data, width, height)
            .await
    }

    /// Returns the smallest of `width` times `height` elements; NaN if one is, +∞ of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_min_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<MinOp>(data, width, height)
            .await
    }

    async fn tiled_reduce_2d_async<R: ReduceOp>(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        let data = Array::of_dims("data", data, &[height, width])?;
        self.reduced_async(R::REDUCTION, data).await
    }

    /// Reduces all elements of an array; [`Reduction::Dot`] takes them as both factors.
    pub(super) async fn reduced_async(&self, reduction: Reduction, data: Array<'_>) -> Result<f32> {
        let mut result = [0.0];
        let op = Op::reduce(reduction, None);
        self.run_async(&op, &[data], &mut result).await?;
        Ok(result[0])
    }
}

/// Element-wise operations: `result` is as long as `input`. NaN gives NaN. Errors are those of
/// [`elementwise_async`](Self::elementwise_async).
impl GpuDevice {
    /// Computes max(x, 0) of each element x.
    pub async fn relu_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Relu], input, None, result)
            .await
    }

    /// Computes x where it is above 0, else `alpha` x.
    pub async fn leaky_relu_async(
        &self,
        input: &[f32],
        result: &mut [f32],
        alpha: f32,
    ) -> Result<()> {
        self.elementwise_async(&[Step::LeakyRelu(alpha)], input, None, result)
            .await
    }

    /// Computes x where it is above 0, else `alpha` (eˣ - 1).
    pub async fn elu_async(&self, input: &[f32], result: &mut [f32], alpha: f32) -> Result<()> {
        self.elementwise_async(&[Step::Elu(alpha)], input, None, result)
            .await
    }

    /// Computes 1 / (1 + e⁻ˣ).
    pub async fn sigmoid_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Sigmoid], input, None, result)
            .await
    }

    /// Computes tanh x.
    pub async fn tanh_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Tanh], input, None, result)
            .await
    }

    /// Computes x / (1 + e⁻ˣ).
    pub async fn swish_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Swish], input, None, result)
            .await
    }

    /// Computes x Φ(x), with Φ the integral of the normal distribution.
    pub async fn gelu_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Gelu], input, None, result)
            .await
    }

    /// Limits each element to at least `min` and at most `max`.
    pub async fn clip_async(
        &self,
        input: &[f32],
        result: &mut [f32],
        min: f32,
        max: f32,
    ) -> Result<()> {
        self.elementwise_async(&[Step::Clip(min, max)], input, None, result)
            .await
    }

    /// Adds two vectors, element by element.
    pub async fn vec_add_async(&self, a: &[f32], b: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Add], a, Some(b), result)
            .await
    }
}
