//! Operations of [`GpuBackend`] on slices.

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

    /// Applies all steps in turn to each element of `a`. Steps with two operands read the second from `b`, which has
    /// the length of `a`.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if a step
    /// needs two operands and `b` is `None`. See [`GpuBackend`].
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

    /// Computes the sum of products, 0 for empty slices.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch). See [`GpuBackend`].
    pub async fn dot_async(&mut self, a: &[f32], b: &[f32]) -> Result<f32> {
        self.number_async(&Op::Dot, &Array::pair(a, b)).await
    }

    /// Computes the softmax of all elements: eˣ divided by the sum of all eˣ.
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
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if `a` is not a whole number of rows. See [`GpuBackend`].
    pub async fn softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        let a = Array::new(a, rows_shape(a.len(), cols)?);
        self.run_async(&Op::Softmax { log: false }, &[a]).await
    }

    /// Computes the logarithm of [`softmax_rows_async`](Self::softmax_rows_async).
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if `a` is not a whole number of rows. See [`GpuBackend`].
    pub async fn log_softmax_rows_async(&mut self, a: &[f32], cols: usize) -> Result<Vec<f32>> {
        let a = Array::new(a, rows_shape(a.len(), cols)?);
        self.run_async(&Op::Softmax { log: true }, &[a]).await
    }

    /// Computes the matrix product of `a`, `[m, k]`, and `b`, `[k, n]`: `[m, n]`, row-major.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if `k` is 0
    /// and the result has more elements than fit in memory. See [`GpuBackend`].
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
        self.run_async(&Op::product(), &[a, b]).await
    }

    /// Convolves an image of `size` (rows, columns) with a kernel of `kernel_size`, without padding. The kernel is not
    /// flipped.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) for a
    /// kernel that is empty or larger than the image. See [`GpuBackend`].
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

    /// Reduces all elements. [`Reduction::Dot`] computes the sum of squares.
    ///
    /// # Errors
    /// See [`GpuBackend`].
    pub async fn reduce_async(&mut self, reduction: Reduction, a: &[f32]) -> Result<f32> {
        let op = Op::reduce(reduction, None);
        self.number_async(&op, &[Array::vector(a)]).await
    }

    /// Reduces axes of a row-major tensor of `shape`; the reduced axes get length 1. [`Reduction::Dot`] computes the
    /// sum of squares.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) for axes
    /// that do not exist or are repeated. See [`GpuBackend`].
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

    /// Normalises each row of `cols` elements, then multiplies it by a weight and adds a bias. `columns` are the weight
    /// and the bias, each with `cols` elements.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if `a` is
    /// not a whole number of rows. See [`GpuBackend`].
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

    /// Rotates the heads of rows, `heads` (number, elements of each) a row, by the positions of their rows, as
    /// [`cpu::rotary`](crate::tensor::cpu::rotary) does. `turns` is what
    /// [`rotary_turns`](crate::tensor::layer::rotary_turns) returns, and `first` the position of the first row.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if `a` or `turns` is not a whole number of rows, or there is
    /// not a position for each row; [`ShapeMismatch`](crate::Error::ShapeMismatch) for an odd number of elements. See
    /// [`GpuBackend`].
    pub async fn rotary_async(
        &mut self,
        a: &[f32],
        turns: &[f32],
        heads: [usize; 2],
        first: usize,
    ) -> Result<Vec<f32>> {
        let inputs = Array::heads_and_turns(a, heads, turns)?;
        self.run_async(&Op::Rotary { first }, &inputs).await
    }

    /// Computes the attention of queries to keys and values of one shape, as
    /// [`cpu::attention`](crate::tensor::cpu::attention) does. The result has the shape of the queries, row-major.
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

    /// Computes x if x > 0, else `alpha` x.
    pub async fn leaky_relu_async(&mut self, a: &[f32], alpha: f32) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::LeakyRelu(alpha)], a, None)
            .await
    }

    /// Computes x if x > 0, else `alpha` (eˣ - 1).
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

    /// Computes x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution.
    pub async fn gelu_async(&mut self, a: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Gelu], a, None).await
    }

    /// Clamps each element to `min..=max`.
    pub async fn clip_async(&mut self, a: &[f32], min: f32, max: f32) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Clip(min, max)], a, None)
            .await
    }

    /// Adds two vectors, element by element.
    pub async fn vec_add_async(&mut self, a: &[f32], b: &[f32]) -> Result<Vec<f32>> {
        self.elementwise_async(&[Step::Add], a, Some(b)).await
    }
}
