//! Tensors of files on devices.

use super::GgufTensor;
use crate::gpu::GpuDevice;
use crate::memory::with_room;
use crate::tensor::{DType, GpuTensor, QuantizedWeights};
use crate::{Error, Result};

/// Uploads.
impl GgufTensor {
    /// Uploads the data of a tensor of type F32, F16 or BF16. The elements keep their type on the device.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) for another type; [`LengthMismatch`](Error::LengthMismatch), in bytes;
    /// [`OutOfMemory`](Error::OutOfMemory), [`DeviceLost`](Error::DeviceLost).
    pub async fn upload_async(&self, device: &GpuDevice, data: &[u8]) -> Result<GpuTensor> {
        self.check_data(data)?;
        let shape = self.shape().clone();
        match self.ggml_type().dtype() {
            Some(DType::F32) => {
                GpuTensor::from_slice_async(device, &self.to_f32(data)?, shape).await
            }
            Some(dtype) => {
                let (halves, _) = data.as_chunks::<2>();
                let mut bits = with_room(halves.len())?;
                bits.extend(halves.iter().map(|&bytes| u16::from_le_bytes(bytes)));
                GpuTensor::from_bits_async(device, &bits, dtype, shape).await
            }
            None => Err(self.not_of("F32, F16 or BF16; packed weights are uploaded as weights")),
        }
    }

    /// Uploads the data of a tensor of packed weights, which stay packed: Q4_K, Q5_K, Q6_K, Q8_0, and F16 in rows of a multiple of
    /// four. The last axis is the inputs, k; the others together are the outputs, n.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) for another type, and as
    /// [`QuantizedWeights::upload_async`]; [`LengthMismatch`](Error::LengthMismatch), in bytes; [`OutOfMemory`](Error::OutOfMemory),
    /// [`DeviceLost`](Error::DeviceLost).
    pub async fn upload_weights_async(
        &self,
        device: &GpuDevice,
        data: &[u8],
    ) -> Result<QuantizedWeights> {
        self.check_data(data)?;
        let Some(quantization) = self.ggml_type().quantization() else {
            return Err(self.not_of("Q4_K, Q5_K, Q6_K, Q8_0 or F16"));
        };
        let (k, outer) = self.shape().dims().split_last().unwrap_or((&1, &[]));
        let size = [outer.iter().product(), *k];
        QuantizedWeights::upload_async(device, quantization, data, size).await
    }

    /// Returns the error of a type that an upload does not take.
    fn not_of(&self, expected: &'static str) -> Error {
        Error::InvalidArgument {
            name: "tensor",
            value: format!("{} of type {}", self.name(), self.ggml_type()),
            expected,
        }
    }
}

/// Blocking forms, native only. They return the errors of the forms named `_async`.
#[cfg(not(target_arch = "wasm32"))]
impl GgufTensor {
    /// [`upload_async`](Self::upload_async), blocking.
    pub fn upload(&self, device: &GpuDevice, data: &[u8]) -> Result<GpuTensor> {
        crate::gpu::runtime::block_on(self.upload_async(device, data))
    }

    /// [`upload_weights_async`](Self::upload_weights_async), blocking.
    pub fn upload_weights(&self, device: &GpuDevice, data: &[u8]) -> Result<QuantizedWeights> {
        crate::gpu::runtime::block_on(self.upload_weights_async(device, data))
    }
}
