//! Quantized weights on the device.

use super::quantization::Quantization;
use super::resident::GpuTensor;
use super::shape::Shape;
use crate::Result;
use crate::gpu::{Backend, Buffer, GpuDevice};
use crate::kernels::Slot;
use crate::kernels::tensor::{QuantizedProduct, matmul_quantized_job};

/// A matrix of quantized weights, `[n, k]`, that stays on the device as it is packed: products unpack it on the way.
#[derive(Debug, Clone)]
pub struct QuantizedWeights {
    device: GpuDevice,
    buffer: Buffer,
    quantization: Quantization,
    n: usize,
    k: usize,
}

impl QuantizedWeights {
    /// Uploads `n` rows of `k` weights, blocks one after the other, as a GGUF file has them.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), in bytes;
    /// [`InvalidArgument`](crate::Error::InvalidArgument) unless `k` is a multiple of 256 (of F16, of 4), at most 131,072;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn upload_async(
        device: &GpuDevice,
        quantization: Quantization,
        bytes: &[u8],
        [n, k]: [usize; 2],
    ) -> Result<Self> {
        let n_bytes = quantization.bytes_of(n, k)?;
        super::check_len("bytes", bytes.len(), n_bytes)?;
        let buffer = device.allocate_uncleared(n_bytes.next_multiple_of(16).max(16))?;
        // Whole words, and what is left of the last one.
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
            device: device.clone(),
            buffer,
            quantization,
            n,
            k,
        })
    }

    /// Outputs and inputs.
    #[must_use]
    pub const fn size(&self) -> [usize; 2] {
        [self.n, self.k]
    }

    /// How they are packed.
    #[must_use]
    pub const fn quantization(&self) -> Quantization {
        self.quantization
    }

    /// The product of rows, `[m, k]`, and the weights' transpose: `[m, n]`.
    ///
    /// # Errors
    /// [`ShapeMismatch`](crate::Error::ShapeMismatch);
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for a tensor of another device;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn matmul_async(&self, rows: &GpuTensor) -> Result<GpuTensor> {
        let m = match *rows.shape().dims() {
            [m, k] if k == self.k => m,
            _ => {
                let weights = Shape::new(&[self.n, self.k])?;
                let expected = "rows are as long as the weights' rows";
                return Err(rows.shape().mismatch(&weights, "matmul", expected));
            }
        };
        let shape = Shape::new(&[m, self.n])?;
        rows.made(shape, async |recording, out| {
            if m * self.n == 0 {
                return Ok(());
            }
            if self.k == 0 {
                return recording.zeros(m * self.n, out).await;
            }
            let (a, start) = recording.dense(rows.operand()).await?;
            let what = QuantizedProduct {
                quantization: self.quantization,
                m: m as u64,
                n: self.n as u64,
                k: self.k as u64,
            };
            let most = recording.device().capabilities().max_binding_bytes;
            let job = matmul_quantized_job(&what, most)?;
            let given = [
                (Slot::A, &a, start),
                (Slot::B, &self.buffer, 0),
                (Slot::Out, out, 0),
            ];
            recording.run(&job, &given).await
        })
        .await
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &GpuDevice {
        &self.device
    }
}
