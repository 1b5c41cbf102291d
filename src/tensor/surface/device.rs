//! Operations of [`GpuDevice`] on slices: upload, computation and download.

use super::arrays::Array;
use crate::Result;
use crate::gpu::GpuDevice;
use crate::tensor::cpu::{MaxOp, MinOp, ReduceOp, SumOp};
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::{Reduction, Shape, Step};

impl GpuDevice {
    /// Applies all steps in turn to each element of `input`. Steps with two operands read the second from `other`,
    /// which has the length of `input`.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if a step
    /// needs two operands and `other` is `None`; [`OutOfMemory`](crate::Error::OutOfMemory),
    /// [`DeviceLost`](crate::Error::DeviceLost).
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

    /// Computes the sum of products, 0 for empty slices.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn dot_async(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        let mut result = [0.0];
        self.run_async(&Op::Dot, &Array::pair(a, b), &mut result)
            .await?;
        Ok(result[0])
    }

    /// Computes the softmax of all elements: eˣ divided by the sum of all eˣ.
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

    /// Computes `c = a b`, where `a` is `m` x `k`, `b` is `k` x `n` and `c` is `m` x `n`, all row-major.
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
        self.run_async(&Op::product(), &[a, b], c).await
    }

    /// Convolves an image with a kernel, without padding. The kernel is not flipped. `output` has
    /// `input_rows - kernel_rows + 1` rows and `input_cols - kernel_cols + 1` columns.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) for a
    /// kernel that is empty or larger than the image.
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

    /// Normalises each row of `cols` elements, then multiplies it by a weight and adds a bias. `columns` are the weight
    /// and the bias, each with `cols` elements.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) if `input`
    /// is not a whole number of rows.
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

    /// Rotates the heads of rows, `heads` (number, elements of each) a row, by the positions of their rows, as
    /// [`cpu::rotary`](crate::tensor::cpu::rotary) does. `turns` is what
    /// [`rotary_turns`](crate::tensor::layer::rotary_turns) returns, and `first` the position of the first row.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) if `input`
    /// or `turns` is not a whole number of rows, or there is not a position for each row;
    /// [`ShapeMismatch`](crate::Error::ShapeMismatch) for an odd number of elements.
    pub async fn rotary_async(
        &self,
        input: &[f32],
        turns: &[f32],
        result: &mut [f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<()> {
        let inputs = Array::heads_and_turns(input, heads, turns)?;
        self.run_async(&Op::Rotary { first }, &inputs, result).await
    }

    /// Computes the attention of queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`, to keys
    /// and values of one shape, as [`cpu::attention`](crate::tensor::cpu::attention) does. `result` has the shape of
    /// the queries, row-major.
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

    /// Computes the sum of `width` x `height` elements.
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

    /// Computes the maximum of `width` x `height` elements: NaN if any element is NaN, -∞ if there are none.
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

    /// Computes the minimum of `width` x `height` elements: NaN if any element is NaN, +∞ if there are none.
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

    /// Reduces all elements of an array. [`Reduction::Dot`] computes the sum of squares.
    pub(super) async fn reduced_async(&self, reduction: Reduction, data: Array<'_>) -> Result<f32> {
        let mut result = [0.0];
        let op = Op::reduce(reduction, None);
        self.run_async(&op, &[data], &mut result).await?;
        Ok(result[0])
    }
}

/// Element-wise operations. `result` has the length of `input`; NaN is propagated. Errors are those of
/// [`elementwise_async`](Self::elementwise_async).
impl GpuDevice {
    /// Computes max(x, 0) of each element x.
    pub async fn relu_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Relu], input, None, result)
            .await
    }

    /// Computes x if x > 0, else `alpha` x.
    pub async fn leaky_relu_async(
        &self,
        input: &[f32],
        result: &mut [f32],
        alpha: f32,
    ) -> Result<()> {
        self.elementwise_async(&[Step::LeakyRelu(alpha)], input, None, result)
            .await
    }

    /// Computes x if x > 0, else `alpha` (eˣ - 1).
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

    /// Computes x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution.
    pub async fn gelu_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Gelu], input, None, result)
            .await
    }

    /// Clamps each element to `min..=max`.
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
