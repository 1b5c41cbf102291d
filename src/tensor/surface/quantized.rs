//! [`QuantizedWeights`]: quantized weights in device memory.

use super::resident::GpuTensor;
use crate::Result;
use crate::gpu::{Backend, GpuDevice};
use crate::kernels::tensor::padded_bytes;
use crate::tensor::op::Op;
use crate::tensor::{Precision, Quantization, Shape, TensorView, check_len};

/// A matrix of quantized weights, `[n, k]`, in device memory. It stays packed; kernels unpack it during products.
#[derive(Debug, Clone)]
pub struct QuantizedWeights {
    /// The packed bytes as 32-bit words, the last one zero-padded.
    words: GpuTensor,
    quantization: Quantization,
    n: usize,
    k: usize,
}

impl QuantizedWeights {
    /// Uploads `n` rows of `k` weights: consecutive blocks, in the layout of GGUF files.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), in bytes; [`InvalidArgument`](crate::Error::InvalidArgument)
    /// unless `k` is a multiple of 256 (of 32 for Q8_0, of 4 for F16) and at most 131,072; [`OutOfMemory`](crate::Error::OutOfMemory),
    /// [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn upload_async(
        device: &GpuDevice,
        quantization: Quantization,
        bytes: &[u8],
        [n, k]: [usize; 2],
    ) -> Result<Self> {
        let n_bytes = quantization.bytes_of(n, k)?;
        check_len("bytes", bytes.len(), n_bytes)?;
        let n_words = bytes.len().div_ceil(4);
        let buffer = device.allocate_uncleared(padded_bytes(n_words as u64))?;
        // Uploads are whole words: the remaining bytes are padded to one.
        let (words, rest) = bytes.split_at(bytes.len() / 4 * 4);
        device.upload_async(&buffer, 0, words).await?;
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            device
                .upload_async(&buffer, words.len() as u64, &last)
                .await?;
        }
        Ok(Self {
            words: GpuTensor::new(device, buffer, TensorView::new(Shape::vector(n_words))),
            quantization,
            n,
            k,
        })
    }

    /// Returns the numbers of outputs and inputs, `[n, k]`.
    #[must_use]
    pub const fn size(&self) -> [usize; 2] {
        [self.n, self.k]
    }

    /// Returns the format of the weights.
    #[must_use]
    pub const fn quantization(&self) -> Quantization {
        self.quantization
    }

    /// Computes the product of `rows`, `[m, k]`, and the transposed weights, `[k, n]`: `[m, n]`.
    ///
    /// # Errors
    /// [`ShapeMismatch`](crate::Error::ShapeMismatch);
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a tensor of another device;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn matmul_async(&self, rows: &GpuTensor) -> Result<GpuTensor> {
        self.matmul_with_async(rows, Precision::F32).await
    }

    /// Computes the same with rows and unpacked weights of this precision. With [`Precision::Tf32`], products of more than 8 rows run on
    /// matrix units where the device has them for it: the weights are unpacked to `f32` first, into memory that the device frees afterwards.
    /// If there is too little of it, on other devices, and for fewer rows, the result is that of [`Precision::F32`].
    ///
    /// # Errors
    /// Those of [`matmul_async`](Self::matmul_async).
    pub async fn matmul_with_async(
        &self,
        rows: &GpuTensor,
        precision: Precision,
    ) -> Result<GpuTensor> {
        GpuTensor::run_async(&self.op(precision), &[rows, &self.words]).await
    }

    /// Returns the operation that multiplies rows by the weights.
    pub(super) const fn op(&self, precision: Precision) -> Op {
        Op::MatmulQuantized {
            quantization: self.quantization,
            size: [self.n, self.k],
            precision,
        }
    }

    /// Returns the packed bytes.
    pub(super) const fn words(&self) -> &GpuTensor {
        &self.words
    }

    /// Returns the device.
    #[must_use]
    pub const fn device(&self) -> &GpuDevice {
        self.words.device()
    }
}

/// Blocking forms, native only. They return the errors of the forms named `_async`.
#[cfg(not(target_arch = "wasm32"))]
impl QuantizedWeights {
    /// [`upload_async`](Self::upload_async), blocking.
    pub fn upload(
        device: &GpuDevice,
        quantization: Quantization,
        bytes: &[u8],
        size: [usize; 2],
    ) -> Result<Self> {
        crate::gpu::runtime::block_on(Self::upload_async(device, quantization, bytes, size))
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    pub fn matmul(&self, rows: &GpuTensor) -> Result<GpuTensor> {
        crate::gpu::runtime::block_on(self.matmul_async(rows))
    }

    /// [`matmul_with_async`](Self::matmul_with_async), blocking.
    pub fn matmul_with(&self, rows: &GpuTensor, precision: Precision) -> Result<GpuTensor> {
        crate::gpu::runtime::block_on(self.matmul_with_async(rows, precision))
    }
}
