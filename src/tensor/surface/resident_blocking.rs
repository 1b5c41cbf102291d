//! Blocking operations of [`GpuTensor`].

use crate::Result;
use crate::gpu::GpuDevice;
use crate::gpu::runtime::block_on;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::{DType, Epilogue, GpuTensor, Precision, Reduction, Shape, Step};

/// Blocking forms, native only. They return the errors of the forms named `_async`.
impl GpuTensor {
    /// [`from_slice_async`](Self::from_slice_async), blocking.
    pub fn from_slice(device: &GpuDevice, values: &[f32], shape: Shape) -> Result<Self> {
        block_on(Self::from_slice_async(device, values, shape))
    }

    /// [`from_bits_async`](Self::from_bits_async), blocking.
    pub fn from_bits(device: &GpuDevice, bits: &[u16], dtype: DType, shape: Shape) -> Result<Self> {
        block_on(Self::from_bits_async(device, bits, dtype, shape))
    }

    /// [`to_bits_async`](Self::to_bits_async), blocking.
    pub fn to_bits(&self) -> Result<Vec<u16>> {
        block_on(self.to_bits_async())
    }

    /// [`cast_async`](Self::cast_async), blocking.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        block_on(self.cast_async(dtype))
    }

    /// [`to_vec_async`](Self::to_vec_async), blocking.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        block_on(self.to_vec_async())
    }

    /// [`read_async`](Self::read_async), blocking.
    pub fn read(&self, out: &mut [f32]) -> Result<()> {
        block_on(self.read_async(out))
    }

    /// [`apply_async`](Self::apply_async), blocking.
    pub fn apply(&self, steps: &[Step]) -> Result<Self> {
        block_on(self.apply_async(steps))
    }

    /// [`combine_async`](Self::combine_async), blocking.
    pub fn combine(&self, steps: &[Step], other: &Self) -> Result<Self> {
        block_on(self.combine_async(steps, other))
    }

    /// [`contiguous_async`](Self::contiguous_async), blocking.
    pub fn contiguous(&self) -> Result<Self> {
        block_on(self.contiguous_async())
    }

    /// [`reduce_async`](Self::reduce_async), blocking.
    pub fn reduce(&self, reduction: Reduction, axes: &[usize]) -> Result<Self> {
        block_on(self.reduce_async(reduction, axes))
    }

    /// [`reduce_all_async`](Self::reduce_all_async), blocking.
    pub fn reduce_all(&self, reduction: Reduction) -> Result<Self> {
        block_on(self.reduce_all_async(reduction))
    }

    /// [`dot_async`](Self::dot_async), blocking.
    pub fn dot(&self, other: &Self) -> Result<Self> {
        block_on(self.dot_async(other))
    }

    /// [`softmax_async`](Self::softmax_async), blocking.
    pub fn softmax(&self) -> Result<Self> {
        block_on(self.softmax_async())
    }

    /// [`log_softmax_async`](Self::log_softmax_async), blocking.
    pub fn log_softmax(&self) -> Result<Self> {
        block_on(self.log_softmax_async())
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    pub fn matmul(&self, other: &Self) -> Result<Self> {
        block_on(self.matmul_async(other))
    }

    /// [`matmul_with_async`](Self::matmul_with_async), blocking.
    pub fn matmul_with(&self, other: &Self, precision: Precision) -> Result<Self> {
        block_on(self.matmul_with_async(other, precision))
    }

    /// [`matmul_with_epilogue_async`](Self::matmul_with_epilogue_async), blocking.
    pub fn matmul_with_epilogue(
        &self,
        other: &Self,
        precision: Precision,
        epilogue: Epilogue<&Self>,
    ) -> Result<Self> {
        block_on(self.matmul_with_epilogue_async(other, precision, epilogue))
    }

    /// [`matmul_to_async`](Self::matmul_to_async), blocking.
    pub fn matmul_to(&self, other: &Self, dtype: DType) -> Result<Self> {
        block_on(self.matmul_to_async(other, dtype))
    }

    /// [`convolve2d_async`](Self::convolve2d_async), blocking.
    pub fn convolve2d(&self, kernel: &Self) -> Result<Self> {
        block_on(self.convolve2d_async(kernel))
    }

    /// [`norm_async`](Self::norm_async), blocking.
    pub fn norm(&self, norm: Norm, weight: Option<&Self>, bias: Option<&Self>) -> Result<Self> {
        block_on(self.norm_async(norm, weight, bias))
    }

    /// [`rotary_async`](Self::rotary_async), blocking.
    pub fn rotary(&self, turns: &Self, first: usize) -> Result<Self> {
        block_on(self.rotary_async(turns, first))
    }

    /// [`attention_async`](Self::attention_async), blocking.
    pub fn attention(&self, keys: &Self, values: &Self, what: Attention) -> Result<Self> {
        block_on(self.attention_async(keys, values, what))
    }
}
