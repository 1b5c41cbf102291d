//! Types of the elements of [`GpuTensor`]: bits of 16-bit types, and conversions.

use super::resident::GpuTensor;
use crate::Result;
use crate::gpu::GpuDevice;
use crate::memory::result_zeros;
use crate::tensor::cpu::not_half;
use crate::tensor::record::Recording;
use crate::tensor::{DType, Shape, TensorView, check_dims};

/// Elements of 16 bits, and conversions.
impl GpuTensor {
    /// Uploads the bits of elements of 16 bits, row-major, as a tensor.
    ///
    /// ```no_run
    /// use pagepress::gpu::GpuDevice;
    /// use pagepress::tensor::{DType, GpuTensor, Shape};
    /// # async fn run() -> pagepress::Result<()> {
    /// let device = GpuDevice::new_async().await?;
    /// let bits = [0x3c00, 0x4000, 0xc200]; // 1, 2 and -3
    /// let a = GpuTensor::from_bits_async(&device, &bits, DType::F16, Shape::new(&[3])?).await?;
    /// assert_eq!(a.to_vec_async().await?, [1.0, 2.0, -3.0]);
    /// assert_eq!(a.cast_async(DType::BF16).await?.to_bits_async().await?, [0x3f80, 0x4000, 0xc040]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for [`DType::F32`]; [`LengthMismatch`](crate::Error::LengthMismatch), [`OutOfMemory`](crate::Error::OutOfMemory),
    /// [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn from_bits_async(
        device: &GpuDevice,
        bits: &[u16],
        dtype: DType,
        shape: Shape,
    ) -> Result<Self> {
        if !dtype.is_half() {
            return Err(not_half(dtype));
        }
        check_dims("bits", bits.len(), shape.dims())?;
        let mut recording = Recording::new(device);
        let buffer = recording.upload_bits(dtype, bits).await?;
        recording.submit_untimed()?;
        Ok(Self::of(device, buffer, dtype, TensorView::new(shape)))
    }

    /// Copies the bits of elements of 16 bits to the host, row-major.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a tensor of [`DType::F32`]; [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn to_bits_async(&self) -> Result<Vec<u16>> {
        if !self.dtype().is_half() {
            return Err(not_half(self.dtype()));
        }
        let mut bits = result_zeros(self.shape().n_elements())?;
        let mut recording = Recording::new(self.device());
        let download = recording.download_bits(self.operand()).await?;
        recording.submit_untimed()?;
        download.read_bits_into(&mut bits).await?;
        Ok(bits)
    }

    /// Converts the elements to a type. Rounds to nearest, ties to even; numbers beyond the largest of the type become
    /// infinite, and NaN stays NaN. Returns a view of the same memory if the type is the tensor's, else a contiguous
    /// tensor.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn cast_async(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let shape = self.shape().clone();
        let mut recording = Recording::new(self.device());
        let buffer = recording.allocate_of(dtype, shape.n_elements())?;
        recording.cast(self.operand(), dtype, &buffer).await?;
        recording.submit_untimed()?;
        let view = TensorView::new(shape);
        Ok(Self::of(self.device(), buffer, dtype, view))
    }
}
