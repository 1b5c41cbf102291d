//! [`GpuTensor`]: elements that stay on the device.

use std::ops::Range;

use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::kernels::tensor::padded_bytes;
use crate::memory::zeros;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::record::{Download, Operand, Recording};
use crate::tensor::{Reduction, Shape, Step, TensorView, check_dims};
use crate::{Error, Result};

/// A tensor of `f32` in device memory. Operations make new tensors there; slicing, reshaping and transposing make views of
/// the same memory, which is freed, or pooled, when the last of them is dropped. Operations return once they are
/// submitted: only reading elements waits.
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
    view: TensorView,
}

impl GpuTensor {
    /// A tensor of the elements of a slice, the last axis innermost.
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

    /// A tensor in memory that is there already.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless the buffer has all elements of the view, rounded up to four;
    /// [`Error::InvalidArgument`] for a buffer of another device.
    pub fn from_buffer(device: &GpuDevice, buffer: Buffer, view: TensorView) -> Result<Self> {
        device.check_buffer(&buffer)?;
        let n = view.end() as u64;
        if buffer.n_bytes() < padded_bytes(n) {
            return Err(Error::LengthMismatch {
                name: "buffer",
                expected: padded_bytes(n) / 4,
                actual: buffer.n_bytes() / 4,
            });
        }
        Ok(Self {
            device: device.clone(),
            buffer,
            view,
        })
    }

    pub(crate) fn new(device: &GpuDevice, buffer: Buffer, view: TensorView) -> Self {
        Self {
            device: device.clone(),
            buffer,
            view,
        }
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.view.shape()
    }

    /// Returns the layout of the elements in [`buffer`](Self::buffer).
    #[must_use]
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// The memory, for kernels of your own.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand {
            buffer: &self.buffer,
            view: &self.view,
        }
    }

    fn with_view(&self, view: TensorView) -> Self {
        Self {
            view,
            ..self.clone()
        }
    }

    /// Copies the elements to the host, the last axis innermost.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn to_vec_async(&self) -> Result<Vec<f32>> {
        let mut values = zeros(self.shape().n_elements())?;
        self.read_async(&mut values).await?;
        Ok(values)
    }

    /// Copies the elements to `out`, the last axis innermost.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn read_async(&self, out: &mut [f32]) -> Result<()> {
        check_dims("result", out.len(), self.shape().dims())?;
        self.download().await?.read_into(out).await
    }

    /// Sends the elements on their way to the host, the last axis innermost.
    pub(crate) async fn download(&self) -> Result<Download> {
        let mut recording = Recording::new(&self.device);
        let download = recording.download_in_order(self.operand()).await?;
        recording.submit_untimed()?;
        Ok(download)
    }
}

/// Views of the same memory; errors are those of [`TensorView`].
impl GpuTensor {
    /// The elements `range` of an axis.
    ///
    /// # Errors
    /// See [`TensorView::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(self.with_view(self.view.slice(axis, range)?))
    }

    /// Two axes exchanged.
    ///
    /// # Errors
    /// See [`TensorView::transpose`].
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self> {
        Ok(self.with_view(self.view.transpose(first, second)?))
    }

    /// Axes in another order.
    ///
    /// # Errors
    /// See [`TensorView::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_view(self.view.permute(axes)?))
    }

    /// The same elements in another shape, without a copy.
    ///
    /// # Errors
    /// See [`TensorView::reshape`].
    pub fn reshape(&self, shape: Shape) -> Result<Self> {
        Ok(self.with_view(self.view.reshape(shape)?))
    }

    /// Extended to a larger shape.
    ///
    /// # Errors
    /// See [`TensorView::broadcast_to`].
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Self> {
        Ok(self.with_view(self.view.broadcast_to(shape)?))
    }
}

/// Operations. All fail with [`Error::OutOfMemory`] or [`Error::DeviceLost`] where the device does, and with
/// [`Error::InvalidArgument`] for a tensor of another device.
impl GpuTensor {
    /// Runs an operation on tensors of one device. Returns once it is submitted.
    pub(crate) async fn run_async(op: &Op, inputs: &[&Self]) -> Result<Self> {
        let views: Vec<&TensorView> = inputs.iter().map(|tensor| &tensor.view).collect();
        let result = op.result(&views)?;
        let device = &inputs[0].device;
        let mut recording = Recording::new(device);
        let buffer = recording.allocate(result.shape().n_elements())?;
        let operands: Vec<Operand<'_>> = inputs.iter().map(|tensor| tensor.operand()).collect();
        let out = Operand {
            buffer: &buffer,
            view: &result,
        };
        op.record(&mut recording, &operands, out).await?;
        recording.submit_untimed()?;
        Ok(Self::new(device, buffer, result))
    }

    /// Applies all steps in turn to each element, in one launch for each four of them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a step that takes two tensors.
    pub async fn apply_async(&self, steps: &[Step]) -> Result<Self> {
        Self::run_async(&Op::Elementwise(steps.to_vec()), &[self]).await
    }

    /// Applies all steps in turn; those that take two take the element of `other`. Shapes are broadcast to each other.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn combine_async(&self, steps: &[Step], other: &Self) -> Result<Self> {
        Self::run_async(&Op::Elementwise(steps.to_vec()), &[self, other]).await
    }

    /// Returns the same elements without gaps, the last axis innermost: a copy, unless they are so already.
    ///
    /// # Errors
    /// See above.
    pub async fn contiguous_async(&self) -> Result<Self> {
        match self.view.is_contiguous() {
            true => Ok(self.clone()),
            false => self.apply_async(&[]).await,
        }
    }

    /// Reduces some axes, which become ones. [`Reduction::Dot`] is [`dot_async`](Self::dot_async)'s alone.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for axes that are not there or come twice.
    pub async fn reduce_async(&self, reduction: Reduction, axes: &[usize]) -> Result<Self> {
        let op = Op::Reduce(reduction, Some(axes.to_vec()));
        Self::run_async(&op, &[self]).await
    }

    /// Reduces all elements to a tensor without axes.
    ///
    /// # Errors
    /// See above.
    pub async fn reduce_all_async(&self, reduction: Reduction) -> Result<Self> {
        Self::run_async(&Op::Reduce(reduction, None), &[self]).await
    }

    /// Sums the products with the elements of a tensor of the same shape: a tensor without axes.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn dot_async(&self, other: &Self) -> Result<Self> {
        Self::run_async(&Op::Dot, &[self, other]).await
    }

    /// Computes the softmax over the last axis.
    ///
    /// # Errors
    /// See above.
    pub async fn softmax_async(&self) -> Result<Self> {
        Self::run_async(&Op::Softmax { log: false }, &[self]).await
    }

    /// Computes the logarithm of the softmax over the last axis.
    ///
    /// # Errors
    /// See above.
    pub async fn log_softmax_async(&self) -> Result<Self> {
        Self::run_async(&Op::Softmax { log: true }, &[self]).await
    }

    /// Computes the matrix product. Axes before the last two are batches and are broadcast to each other; one axis alone is a
    /// row in front, a column behind. Transposed tensors are not copied.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn matmul_async(&self, other: &Self) -> Result<Self> {
        Self::run_async(&Op::Matmul, &[self, other]).await
    }

    /// Convolves a picture, `[rows, cols]`, with a kernel where it fits: no padding, and the kernel is not flipped.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] for a kernel that is empty or larger than the picture.
    pub async fn convolve2d_async(&self, kernel: &Self) -> Result<Self> {
        Self::run_async(&Op::Convolve2d, &[self, kernel]).await
    }

    /// Normalises each row of the last axis, then multiplies it by `weight` and adds `bias`, which have an element for each
    /// column.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless they have as many.
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

    /// Computes the attention of these queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`: for each
    /// query the mean of the values, weighted by the softmax of its products with the keys. The matrix of products is never
    /// stored. `keys` and `values` may have fewer heads, each for as many heads of queries.
    ///
    /// The result has the shape of the queries. In memory its rows hold all heads of a query side by side, so that joining
    /// them is `permute`, `contiguous_async` without a copy, and `reshape`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] for heads of more than 256 elements.
    pub async fn attention_async(
        &self,
        keys: &Self,
        values: &Self,
        what: Attention,
    ) -> Result<Self> {
        Self::run_async(&Op::Attention(what), &[self, keys, values]).await
    }
}
