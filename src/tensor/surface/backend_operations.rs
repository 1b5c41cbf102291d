//! The operations of [`GpuBackend`] on slices.

use super::arrays::Array;
use crate::Result;
use crate::memory::zeros;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::lengths::rows_shape;
use crate::tensor::op::Op;
use crate::tensor::record::Download;
use crate::tensor::{GpuBackend, Reduction, Shape, Step};

impl GpuBackend {
    /// Runs an operation on slices.
    async fn run_async(&mut self, op: &Op, inputs: &[Array<'_>]) -> Result<Vec<f32>> {
        let download = async |made: Download, n| {
            let mut out = zeros(n)?;
            made.read_into(&mut out).await?;
            Ok(out)
        };
        self.compute_async(op, inputs, download, Ok).await
    }

    /// Runs an operation whose result is one element.
    async fn number_async(&mut self, op: &Op, inputs: &[Array<'_>]) -> Result<f32> {
        let made = self.run_async(op, inputs).await?;
        Ok(made.first().copied().unwrap_or_default())
    }

    /// Applies all steps in turn to each element of `a`; those that take two take the element of `b`, which is as long.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if a step takes
    /// two and there is no `b`. See [`GpuBackend`].
    pub async fn elementwise_async(
        &mut self,
        steps: &[Step],
        a: &[f32],
        b: Option<&[f32]>,
    ) -> Result<Vec<f32>> {
        let op = Op::Elementwise(steps.to_vec());
        match b {
            Some(b) => self.run_async(&op, &Array::pair(a, b)).await,
            None => self.run_async(&op, &[Array::vector(a)]).await,
        }
    }

    /// Returns the sum of products; 0 of none.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch). See [`GpuBackend`].
    pub async fn dot_async(&mut self, a: &[f32], b: &[f32]) -> Result<f32> {
        self.number_async(&Op::Dot, &Array::pair(a, b)).await
    }

    /// Computes eˣ over the sum of all eˣ: one row.
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn softmax_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        let op = Op::Softmax { log: false };
        self.run_async(&op, &[Array::vector(a)]).await
    }

    /// Computes the logarithm of [`softmax_async`](Self::softmax_async).
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn log_softmax_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        let op = Op::Softmax { log: true };
        self.run_async(&op, &[Array::vector(a)]).await
    }

    /// Computes the softmax of each row of `cols` elements.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) unless rows are whole. See [`GpuBackend`].
    pub async fn softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        let a = Array::new(a, rows_shape(a.len(), cols)?);
        self.run_async(&Op::Softmax { log: false }, &[a]).await
    }

    /// Computes the logarithm of [`softmax_rows_async`](Self::softmax_rows_async).
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) unless rows are whole. See [`GpuBackend`].
    pub async fn log_softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        let a = Array::new(a, rows_shape(a.len(), cols)?);
        self.run_async(&Op::Softmax { log: true }, &[a]).await
    }

    /// Multiplies `a`, `m` rows of `k`, by `b`, `k` rows of `n`.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) where `k` is 0
    /// and the result has more elements than memory. See [`GpuBackend`].
    pub async fn matmul_async(
        &mut self,
        a: &[f32],
        b: &[f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<Vec<f32>> {
        let a = Array::of_dims("a", a, &[m, k])?;
        let b = Array::of_dims("b", b, &[k, n])?;
        self.run_async(&Op::Matmul, &[a, b]).await
    }

    /// Convolves a picture of `size` rows and columns with a kernel of `kernel_size`, where it fits.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) for a kernel
    /// that is empty or larger than the picture. See [`GpuBackend`].
    pub async fn convolve2d_async(
        &mut self,
        input: &[f32],
        kernel: &[f32],
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> Result<Vec<f32>> {
        let input = Array::of_dims("input", input, &size)?;
        let kernel = Array::of_dims("kernel", kernel, &kernel_size)?;
        self.run_async(&Op::Convolve2d, &[input, kernel]).await
    }

    /// Reduces all elements. [`Reduction::Dot`] takes them as both factors.
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn reduce_async(&mut self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        let op = Op::reduce(reduction, None);
        self.number_async(&op, &[Array::vector(a)]).await
    }

    /// Reduces some axes of a tensor of `shape`, the last axis innermost; they become ones. [`Reduction::Dot`] takes the
    /// elements as both factors.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) for axes that
    /// are not there or come twice. See [`GpuBackend`].
    pub async fn reduce_axes_async(
        &mut self,
        reduction: Reduction,
        a: &[f32],
        shape: &Shape,
        axes: &[usize],
    ) -> Result<Vec<f32>> {
        let op = Op::reduce(reduction, Some(axes.to_vec()));
        self.run_async(&op, &[Array::new(a, shape.clone())]).await
    }

    /// Normalises each row of `cols` elements, then multiplies it by a weight and adds a bias, the first and the second of
    /// `columns`, which have an element for each column.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) unless rows are
    /// whole. See [`GpuBackend`].
    pub async fn norm_async(
        &mut self,
        norm: Norm,
        a: &[f32],
        columns: [Option<&[f32]>; 2],
        cols: usize,
    ) -> Result<Vec<f32>> {
        let (op, inputs) = Array::rows_and_columns(norm, a, columns, cols)?;
        self.run_async(&op, &inputs).await
    }

    /// Computes the attention of queries to keys and values of one shape, as
    /// [`cpu::attention`](crate::tensor::cpu::attention) does; the result is as the queries.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), [`ShapeMismatch`](crate::Error::ShapeMismatch). See
    /// [`GpuBackend`].
    pub async fn attention_async(
        &mut self,
        what: Attention,
        (queries, q_shape): (&[f32], &Shape),
        (keys, values, k_shape): (&[f32], &[f32], &Shape),
    ) -> Result<Vec<f32>> {
        let inputs = [(queries, q_shape), (keys, k_shape), (values, k_shape)];
        let inputs = inputs.map(|(values, shape)| Array::new(values, shape.clone()));
        self.run_async(&Op::Attention(what), &inputs).await
    }
}

/// Element-wise operations. Errors are those of [`elementwise_async`](Self::elementwise_async).
impl GpuBackend {
    /// Computes max(x, 0) of each element x.
    pub async fn relu_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Relu], a, None).await
    }

    /// Computes x where it is above 0, else `alpha` x.
    pub async fn leaky_relu_async(&mut self, a: &[f32], alpha: f32) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::LeakyRelu(alpha)], a, None)
            .await
    }

    /// Computes x where it is above 0, else `alpha` (eˣ - 1).
    pub async fn elu_async(&mut self, a: &[f32], alpha: f32) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Elu(alpha)], a, None).await
    }

    /// Computes 1 / (1 + e⁻ˣ).
    pub async fn sigmoid_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Sigmoid], a, None).await
    }

    /// Computes tanh x.
    pub async fn tanh_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Tanh], a, None).await
    }

    /// Computes x / (1 + e⁻ˣ).
    pub async fn swish_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Swish], a, None).await
    }

    /// Computes x Φ(x), with Φ the integral of the normal distribution.
    pub async fn gelu_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Gelu], a, None).await
    }

    /// Limits each element to at least `min` and at most `max`.
    pub async fn clip_async(&mut self, a: &[f32], min: f32, max: f32) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Clip(min, max)], a, None)
            .await
    }

    /// Adds two vectors, element by element.
    pub async fn vec_add_async(&mut self, a: &[f32], b: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Add], a, Some(b)).await
    }
}
