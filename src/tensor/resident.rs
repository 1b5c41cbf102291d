//! [`GpuTensor`]: elements that stay on the device.

use std::ops::Range;

use super::check_dims;
use super::products::{convolved_shape, factors};
use super::reduce::reduced_shape;
use super::run::{Download, Operand, Recording};
use super::shape::Shape;
use super::step::{Reduction, Step};
use super::view::TensorView;
use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::kernels::tensor::padded_bytes;
use crate::memory::zeros;
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
        Ok(Self::new(device, buffer, shape))
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

    pub(super) fn new(device: &GpuDevice, buffer: Buffer, shape: Shape) -> Self {
        Self {
            device: device.clone(),
            buffer,
            view: TensorView::new(shape),
        }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.view.shape()
    }

    /// Where the elements are in [`buffer`](Self::buffer).
    #[must_use]
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// The memory, for kernels of your own.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(super) fn operand(&self) -> Operand<'_> {
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
    pub(super) async fn download(&self) -> Result<Download> {
        let n = self.shape().n_elements();
        let mut recording = Recording::new(&self.device);
        let download = if self.view.is_contiguous() {
            let start = self.view.offset();
            recording.download(&self.buffer, start..start + n)?
        } else {
            let copy = recording.allocate(n)?;
            recording
                .elementwise(&[], self.operand(), None, self.shape(), &copy)
                .await?;
            recording.download(&copy, 0..n)?
        };
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
    /// The elements by all steps in turn, in one launch for each four of them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a step that takes two tensors.
    pub async fn apply_async(&self, steps: &[Step]) -> Result<Self> {
        self.made(self.shape().clone(), async |recording, out| {
            recording
                .elementwise(steps, self.operand(), None, self.shape(), out)
                .await
        })
        .await
    }

    /// The elements by all steps in turn; those that take two take that of `other`. Shapes extend to each other.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn combine_async(&self, steps: &[Step], other: &Self) -> Result<Self> {
        let shape = self.shape().broadcast(other.shape(), "combine")?;
        self.made(shape.clone(), async |recording, out| {
            let other = Some(other.operand());
            recording
                .elementwise(steps, self.operand(), other, &shape, out)
                .await
        })
        .await
    }

    /// The same elements without gaps, the last axis innermost: a copy, unless they are so already.
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
        if reduction == Reduction::Dot {
            return Err(Error::InvalidArgument {
                name: "reduction",
                value: "Dot".into(),
                expected: "dot_async for products of two tensors, SumOfSquares for one",
            });
        }
        let (axes, shape) = reduced_shape(self.shape(), axes)?;
        self.made(shape, async |recording, out| {
            recording
                .reduce(reduction, self.operand(), &axes, out)
                .await
        })
        .await
    }

    /// Reduces all elements to a tensor without axes.
    ///
    /// # Errors
    /// See above.
    pub async fn reduce_all_async(&self, reduction: Reduction) -> Result<Self> {
        let axes: Vec<usize> = (0..self.shape().rank()).collect();
        let reduced = self.reduce_async(reduction, &axes).await?;
        reduced.reshape(Shape::new(&[])?)
    }

    /// The sum of products with the elements of a tensor of the same shape: a tensor without axes.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn dot_async(&self, other: &Self) -> Result<Self> {
        if self.shape() != other.shape() {
            return Err(self
                .shape()
                .mismatch(other.shape(), "dot", "both are equal"));
        }
        let n = self.shape().n_elements();
        self.made(Shape::new(&[])?, async |recording, out| {
            recording.dot(self.operand(), other.operand(), n, out).await
        })
        .await
    }

    /// The softmax over the last axis.
    ///
    /// # Errors
    /// See above.
    pub async fn softmax_async(&self) -> Result<Self> {
        self.softmax_of(false).await
    }

    /// The logarithm of the softmax over the last axis.
    ///
    /// # Errors
    /// See above.
    pub async fn log_softmax_async(&self) -> Result<Self> {
        self.softmax_of(true).await
    }

    /// The softmax over the last axis, or its logarithm.
    pub(crate) async fn softmax_of(&self, log: bool) -> Result<Self> {
        self.made(self.shape().clone(), async |recording, out| {
            recording.softmax(log, self.operand(), out).await
        })
        .await
    }

    /// The matrix product. Axes before the last two are batches and extend to each other; one axis alone is a row in front, a
    /// column behind. Transposed tensors are taken as they are.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub async fn matmul_async(&self, other: &Self) -> Result<Self> {
        let factors = factors(&self.view, &other.view)?;
        self.made(factors.shape.clone(), async |recording, out| {
            recording
                .matmul(&self.buffer, &other.buffer, &factors, out)
                .await
        })
        .await
    }

    /// The convolution of a picture, `[rows, cols]`, with a kernel where it fits: no padding, and it is not flipped.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] for a kernel that is empty or larger than the picture.
    pub async fn convolve2d_async(&self, kernel: &Self) -> Result<Self> {
        let shape = convolved_shape(self.shape(), kernel.shape())?;
        self.made(shape, async |recording, out| {
            recording
                .convolve2d(self.operand(), kernel.operand(), out)
                .await
        })
        .await
    }

    /// A tensor of `shape`, made by what `record` records.
    pub(super) async fn made(
        &self,
        shape: Shape,
        record: impl AsyncFnOnce(&mut Recording, &Buffer) -> Result<()>,
    ) -> Result<Self> {
        let mut recording = Recording::new(&self.device);
        let out = recording.allocate(shape.n_elements())?;
        record(&mut recording, &out).await?;
        recording.submit_untimed()?;
        Ok(Self::new(&self.device, out, shape))
    }
}
