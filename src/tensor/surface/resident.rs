//! [`GpuTensor`]: a tensor whose elements stay in device memory.

use std::ops::Range;

use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::kernels::tensor::padded_bytes_of;
use crate::memory::result_zeros;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::record::{AnyOperand, Download, Recording};
use crate::tensor::{DType, Epilogue, Precision, Reduction, Shape, Step, TensorView, check_dims};
use crate::{Error, Result};

/// A tensor in device memory. Operations create new tensors there. Slicing, reshaping and transposing create
/// views of the same memory, which is freed or returned to the pool when the last view is dropped. Operations return as
/// soon as they are submitted; only reading elements waits.
///
/// Elements are `f32`, or of 16 bits: see [`DType`]. Operations compute in `f32`. Their result has the type of the
/// inputs, to which it is rounded once; for inputs of several types it is `f32`.
///
/// ```no_run
/// use pagepress::gpu::GpuDevice;
/// use pagepress::tensor::{GpuTensor, Shape, Step};
/// # async fn run() -> pagepress::Result<()> {
/// let device = GpuDevice::new_async().await?;
/// let a = GpuTensor::from_slice_async(&device, &[1.0, -2.0, 3.0, -4.0], Shape::new(&[2, 2])?).await?;
/// let product = a.matmul_async(&a.transpose(0, 1)?).await?;
/// let positive = product.apply_async(&[Step::Scale(0.5), Step::Relu]).await?;
/// assert_eq!(positive.to_vec_async().await?, [2.5, 5.5, 5.5, 12.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GpuTensor {
    device: GpuDevice,
    buffer: Buffer,
    dtype: DType,
    view: TensorView,
}

impl GpuTensor {
    /// Uploads a row-major slice as a tensor.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn from_slice_async(
        device: &GpuDevice,
        values: &[f32],
        shape: Shape,
    ) -> Result<Self> {
        check_dims("values", values.len(), shape.dims())?;
        let mut recording = Recording::new(device);
        let buffer = recording.upload(values).await?;
        recording.submit_untimed()?;
        Ok(Self::new(device, buffer, TensorView::new(shape)))
    }

    /// Creates a tensor of `f32` from a buffer of the device.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless the buffer has all elements of the view, rounded up to a multiple of four;
    /// [`Error::InvalidArgument`] for a buffer of another device.
    pub fn from_buffer(device: &GpuDevice, buffer: Buffer, view: TensorView) -> Result<Self> {
        Self::from_buffer_of(device, buffer, DType::F32, view)
    }

    /// Creates a tensor from a buffer of the device. Elements of 16 bits lie in pairs in 32-bit words, the first in the
    /// low half.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], in elements, unless the buffer has all elements of the view, rounded up to a multiple
    /// of 16 bytes; [`Error::InvalidArgument`] for a buffer of another device.
    pub fn from_buffer_of(
        device: &GpuDevice,
        buffer: Buffer,
        dtype: DType,
        view: TensorView,
    ) -> Result<Self> {
        device.check_buffer(&buffer)?;
        let n_bytes = padded_bytes_of(dtype, view.end() as u64);
        if buffer.n_bytes() < n_bytes {
            let of_element = dtype.n_bytes() as u64;
            return Err(Error::LengthMismatch {
                name: "buffer",
                expected: n_bytes / of_element,
                actual: buffer.n_bytes() / of_element,
            });
        }
        Ok(Self::of(device, buffer, dtype, view))
    }

    /// Creates a tensor of `f32`.
    pub(crate) fn new(device: &GpuDevice, buffer: Buffer, view: TensorView) -> Self {
        Self::of(device, buffer, DType::F32, view)
    }

    /// Creates a tensor. The buffer must be of the device, and large enough.
    pub(crate) fn of(device: &GpuDevice, buffer: Buffer, dtype: DType, view: TensorView) -> Self {
        Self {
            device: device.clone(),
            buffer,
            dtype,
            view,
        }
    }

    /// Returns the device.
    #[must_use]
    pub const fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Returns the type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.view.shape()
    }

    /// Returns the layout of the elements in [`buffer`](Self::buffer).
    #[must_use]
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// Returns the buffer, for use by custom kernels.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(crate) fn operand(&self) -> AnyOperand<'_> {
        AnyOperand {
            buffer: &self.buffer,
            view: &self.view,
            dtype: self.dtype,
        }
    }

    fn with_view(&self, view: TensorView) -> Self {
        Self {
            view,
            ..self.clone()
        }
    }

    /// Copies the elements to the host, row-major. Elements of 16 bits are converted to `f32`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn to_vec_async(&self) -> Result<Vec<f32>> {
        let mut values = result_zeros(self.shape().n_elements())?;
        self.read_async(&mut values).await?;
        Ok(values)
    }

    /// Copies the elements to `out`, row-major. Elements of 16 bits are converted to `f32`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn read_async(&self, out: &mut [f32]) -> Result<()> {
        check_dims("result", out.len(), self.shape().dims())?;
        self.download().await?.read_into(out).await
    }

    /// Starts the download of the elements, row-major.
    pub(crate) async fn download(&self) -> Result<Download> {
        let mut recording = Recording::new(&self.device);
        let wide = recording.widened(self.operand()).await?;
        let download = recording.download_in_order(wide.operand()).await?;
        recording.submit_untimed()?;
        Ok(download)
    }
}

/// Views of the same memory. Errors are those of [`TensorView`].
impl GpuTensor {
    /// Returns the elements `range` of an axis.
    ///
    /// # Errors
    /// See [`TensorView::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.with_view(self.view.slice(axis, range)?))
    }

    /// Exchanges two axes.
    ///
    /// # Errors
    /// See [`TensorView::transpose`].
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self> {
        Ok(self.with_view(self.view.transpose(first, second)?))
    }

    /// Reorders the axes: axis `i` of the result is axis `axes[i]` of this tensor.
    ///
    /// # Errors
    /// See [`TensorView::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_view(self.view.permute(axes)?))
    }

    /// Returns the same elements in another shape, without a copy.
    ///
    /// # Errors
    /// See [`TensorView::reshape`].
    pub fn reshape(&self, shape: Shape) -> Result<Self> {
        Ok(self.with_view(self.view.reshape(shape)?))
    }

    /// Broadcasts the tensor to a larger shape.
    ///
    /// # Errors
    /// See [`TensorView::broadcast_to`].
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Self> {
        Ok(self.with_view(self.view.broadcast_to(shape)?))
    }
}

/// Operations. All of them return [`Error::OutOfMemory`] or [`Error::DeviceLost`] if the device does, and
/// [`Error::InvalidArgument`] for a tensor of another device.
impl GpuTensor {
    /// Submits an operation on tensors of one device; does not wait for its completion.
    pub(crate) async fn run_async(op: &Op, inputs: &[&Self]) -> Result<Self> {
        let dtype = op.result_dtype(inputs.iter().map(|tensor| tensor.dtype));
        Self::run_to_async(op, inputs, dtype).await
    }

    /// Submits an operation on tensors of one device, with a result of this type; does not wait for its completion.
    async fn run_to_async(op: &Op, inputs: &[&Self], dtype: DType) -> Result<Self> {
        let views: Vec<&TensorView> = inputs.iter().map(|tensor| &tensor.view).collect();
        let result = op.result(&views)?;
        let device = &inputs[0].device;
        let mut recording = Recording::new(device);
        let buffer = recording.allocate_of(dtype, result.shape().n_elements())?;
        let operands: Vec<AnyOperand<'_>> = inputs.iter().map(|tensor| tensor.operand()).collect();
        let out = AnyOperand {
            buffer: &buffer,
            view: &result,
            dtype,
        };
        recording.operation(op, &operands, out).await?;
        recording.submit_untimed()?;
        Ok(Self::of(device, buffer, dtype, result))
    }

    /// Applies all steps in turn to each element. Each launch applies up to four steps.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a step with two operands.
    pub async fn apply_async(&self, steps: &[Step]) -> Result<Self> {
        Self::run_async(&Op::Elementwise(steps.to_vec()), &[self]).await
    }

    /// Applies all steps in turn to each element. Steps with two operands read the second from `other`; the shapes are
    /// broadcast to each other.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn combine_async(&self, steps: &[Step], other: &Self) -> Result<Self> {
        Self::run_async(&Op::Elementwise(steps.to_vec()), &[self, other]).await
    }

    /// Returns the same elements contiguously, row-major. Copies only if the elements are not contiguous already.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn contiguous_async(&self) -> Result<Self> {
        match self.view.is_contiguous() {
            true => Ok(self.clone()),
            false => self.apply_async(&[]).await,
        }
    }

    /// Reduces axes, which get length 1. [`Reduction::Dot`] is not supported: use [`dot_async`](Self::dot_async).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for axes that do not exist or are repeated, and for [`Reduction::Dot`].
    pub async fn reduce_async(&self, reduction: Reduction, axes: &[usize]) -> Result<Self> {
        let op = Op::Reduce(reduction, Some(axes.to_vec()));
        Self::run_async(&op, &[self]).await
    }

    /// Reduces all elements to a tensor of rank 0.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for [`Reduction::Dot`].
    pub async fn reduce_all_async(&self, reduction: Reduction) -> Result<Self> {
        Self::run_async(&Op::Reduce(reduction, None), &[self]).await
    }

    /// Computes the sum of products with the elements of a tensor of the same shape: a tensor of rank 0.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn dot_async(&self, other: &Self) -> Result<Self> {
        Self::run_async(&Op::Dot, &[self, other]).await
    }

    /// Computes the softmax over the last axis.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn softmax_async(&self) -> Result<Self> {
        Self::run_async(&Op::Softmax { log: false }, &[self]).await
    }

    /// Computes the logarithm of the softmax over the last axis.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn log_softmax_async(&self) -> Result<Self> {
        Self::run_async(&Op::Softmax { log: true }, &[self]).await
    }

    /// Computes the matrix product. Axes before the last two are batch axes and are broadcast to each other. A vector
    /// is a row as the left factor and a column as the right factor. Transposed tensors are not copied.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn matmul_async(&self, other: &Self) -> Result<Self> {
        self.matmul_with_async(other, Precision::F32).await
    }

    /// Computes the matrix product, as [`matmul_async`](Self::matmul_async), with this precision of the factors.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn matmul_with_async(&self, other: &Self, precision: Precision) -> Result<Self> {
        let epilogue = Epilogue::default();
        self.matmul_with_epilogue_async(other, precision, epilogue)
            .await
    }

    /// Computes the matrix product, as [`matmul_with_async`](Self::matmul_with_async), then adds a bias to its columns, applies an
    /// activation, and adds a residual, in the type of the sums and before they are stored: `activation(product + bias) + residual`.
    /// The bias is `[n]`, where n is the number of columns, and the residual has the shape of the product.
    ///
    /// ```no_run
    /// use pagepress::tensor::{Activation, Epilogue, GpuTensor, Precision};
    /// # async fn run(x: &GpuTensor, w: &GpuTensor, b: &GpuTensor) -> pagepress::Result<GpuTensor> {
    /// let epilogue = Epilogue {
    ///     bias: Some(b),
    ///     activation: Some(Activation::Gelu),
    ///     residual: Some(x),
    /// };
    /// x.matmul_with_epilogue_async(w, Precision::F32, epilogue).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], also for a bias or a residual of another shape.
    pub async fn matmul_with_epilogue_async(
        &self,
        other: &Self,
        precision: Precision,
        epilogue: Epilogue<&Self>,
    ) -> Result<Self> {
        let op = Op::Matmul(precision, epilogue.form());
        let inputs = [self, other].into_iter().chain(epilogue.tensors());
        Self::run_async(&op, &inputs.collect::<Vec<_>>()).await
    }

    /// Computes the matrix product, as [`matmul_async`](Self::matmul_async), with a result of this type. For factors of
    /// 16 bits, [`DType::F32`] leaves the sums unrounded.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn matmul_to_async(&self, other: &Self, dtype: DType) -> Result<Self> {
        Self::run_to_async(&Op::product(), &[self, other], dtype).await
    }

    /// Convolves an image, `[rows, cols]`, with a kernel, without padding. The kernel is not flipped.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] for a kernel that is empty or larger than the image.
    pub async fn convolve2d_async(&self, kernel: &Self) -> Result<Self> {
        Self::run_async(&Op::Convolve2d, &[self, kernel]).await
    }

    /// Normalises each row of the last axis, then multiplies it by `weight` and adds `bias`, vectors with an element
    /// per column.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `weight` or `bias` does not have one element per column.
    pub async fn norm_async(
        &self,
        norm: Norm,
        weight: Option<&Self>,
        bias: Option<&Self>,
    ) -> Result<Self> {
        let columns = [weight.is_some(), bias.is_some()];
        let inputs: Vec<&Self> = [Some(self), weight, bias].into_iter().flatten().collect();
        Self::run_async(&Op::Norm { norm, columns }, &inputs).await
    }

    /// Rotates heads, `[rows, heads, elements]`, by the positions of their rows: pairs of elements i and
    /// i + `elements` / 2 of a head by angle i of the position, which is `first` for the first row. `turns`, `[positions,
    /// elements]`, has cosine and sine of each angle, as [`rotary_turns`](crate::tensor::layer::rotary_turns) returns
    /// them. `transpose(0, 1)` makes the result the queries or keys of [`attention_async`](Self::attention_async)
    /// without a copy.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], also for an odd number of elements; [`Error::InvalidArgument`] if there is not a
    /// position for each row.
    pub async fn rotary_async(&self, turns: &Self, first: usize) -> Result<Self> {
        Self::run_async(&Op::Rotary { first }, &[self, turns]).await
    }

    /// Computes the attention of these queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`.
    /// The result of a query is the mean of the values, weighted by the softmax of the query's products with the keys.
    /// The matrix of products is never stored. `keys` and `values` may have fewer heads than the queries; consecutive
    /// heads of queries then share one (grouped-query attention).
    ///
    /// The result has the shape of the queries. In memory, each row contains all heads of a query, so that the heads
    /// can be joined without a copy by `permute`, `contiguous_async` and `reshape`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] for heads of more than 256 elements, or for a window of 0
    /// or without a causal mask.
    pub async fn attention_async(
        &self,
        keys: &Self,
        values: &Self,
        what: Attention,
    ) -> Result<Self> {
        Self::run_async(&Op::Attention(what), &[self, keys, values]).await
    }
}
